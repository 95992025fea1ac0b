import * as Y from 'yjs'
import { isBlockType, isTextblock } from '../../shared/body/nodes.ts'
import { bodyFragment, idOf } from '../../shared/body/yjs/encoding.ts'
import { newId } from '../../shared/schema/ids.ts'
import type { Choices } from './choices.ts'

/** What an edit works on. `untouched` are the ids of top-level blocks that nobody may edit. */
export type Desk = { doc: Y.Doc; choices: Choices; untouched: ReadonlySet<string> }

/** A Y text that an editor may write into. */
export type Spot = { text: Y.XmlText; element: Y.XmlElement }

/** One change of the structure or the text, as an editor makes it in one transaction. It may find nothing to do. */
type Edit = (desk: Desk) => void

/** All Y texts of blocks that may be edited. */
export function spotsOf(desk: Desk): Spot[] {
  return topLevel(desk).flatMap(spotsIn)
}

/** The offsets at which no character is torn apart. */
export function offsetsOf(text: Y.XmlText): number[] {
  const offsets = [0]
  for (const character of plain(text)) offsets.push((offsets.at(-1) ?? 0) + character.length)
  return offsets
}

/** The last offset up to `index` at which no character is torn apart. */
export function nearestOffset(text: Y.XmlText, index: number): number {
  return offsetsOf(text).findLast((offset) => offset <= index) ?? 0
}

/** Puts an empty Y text into an empty block, as editors do when somebody begins to type there. */
const fillEmpty: Edit = (desk) => {
  const empty = desk.choices.pick(topLevel(desk).filter((element) => isTextblock(element.nodeName) && !element.length))
  empty?.insert(0, [new Y.XmlText()])
}

/** Enter. Editors without a plugin for ids copy the id to the second half; others make a new id or leave it out. */
const split: Edit = (desk) => {
  const spot = desk.choices.pick(
    spotsOf(desk).filter(({ element }) => ['paragraph', 'heading'].includes(element.nodeName)),
  )
  const parent = spot?.element.parent
  if (!spot || !(parent instanceof Y.XmlFragment)) return
  const offset = desk.choices.pick(offsetsOf(spot.text)) ?? 0
  const second = emptied(spot.element)
  identify(second, desk.choices)
  const behind = spot.element.toArray().slice(indexIn(spot.element, spot.text) + 1)
  const tail = new Y.XmlText()
  second.insert(0, [tail, ...behind.map(copyOf)])
  const isItem = parent instanceof Y.XmlElement && ['listItem', 'taskItem'].includes(parent.nodeName)
  if (isItem && parent.get(0) === spot.element && parent.parent instanceof Y.XmlElement) {
    const item = emptied(parent)
    identify(item, desk.choices)
    item.insert(0, [second])
    parent.parent.insert(indexIn(parent.parent, parent) + 1, [item])
  } else parent.insert(indexIn(parent, spot.element) + 1, [second])
  tail.applyDelta(deltaFrom(spot.text, offset))
  spot.text.delete(offset, spot.text.length - offset)
  if (behind.length > 0) spot.element.delete(spot.element.length - behind.length, behind.length)
}

/** Backspace at the beginning of a block: its text goes to the end of the block before it. */
const join: Edit = (desk) => {
  const all = bodyFragment(desk.doc).toArray()
  const isPlain = (child: unknown): child is Y.XmlElement =>
    child instanceof Y.XmlElement && ['paragraph', 'heading'].includes(child.nodeName) && !isUntouched(desk, child)
  const second = desk.choices.pick(all.filter((child, index) => index > 0 && isPlain(child) && isPlain(all[index - 1])))
  const first = all[all.indexOf(second as Y.XmlElement) - 1]
  if (!isPlain(first) || !isPlain(second)) return
  first.insert(first.length, second.toArray().map(copyOf))
  bodyFragment(desk.doc).delete(all.indexOf(second), 1)
}

/** Copies neighbouring blocks with their ids to another place. */
const paste: Edit = (desk) => {
  const run = runOf(desk, 3)
  const fragment = bodyFragment(desk.doc)
  if (run) fragment.insert(desk.choices.between(0, fragment.length), run.elements.map(copyOf))
}

/** Drags a block elsewhere. Yjs knows no moves, so an editor deletes the block and inserts a copy. */
const move: Edit = (desk) => {
  const run = runOf(desk, 1)
  const fragment = bodyFragment(desk.doc)
  if (!run || fragment.length < 3) return
  const copies = run.elements.map(copyOf)
  fragment.delete(run.index, copies.length)
  fragment.insert(desk.choices.between(0, fragment.length), copies)
}

/** Makes a paragraph a heading, or the other way round. Yjs cannot rename an element, so the editor makes it anew. */
const retype: Edit = (desk) => {
  const plains = topLevel(desk).filter(({ nodeName }) => ['paragraph', 'heading'].includes(nodeName))
  const old = desk.choices.pick(plains)
  if (!old) return
  const made = new Y.XmlElement(old.nodeName === 'paragraph' ? 'heading' : 'paragraph')
  const id = idOf(old)
  if (id !== undefined) made.setAttribute('id', id)
  if (made.nodeName === 'heading') made.setAttribute('level', 2 as unknown as string)
  made.insert(0, old.toArray().map(copyOf))
  const fragment = bodyFragment(desk.doc)
  const index = indexIn(fragment, old)
  fragment.delete(index, 1)
  fragment.insert(index, [made])
}

/** Deletes a few characters of one text. */
const deleteText: Edit = (desk) => {
  const spot = desk.choices.pick(spotsOf(desk).filter(({ text }) => text.length > 0))
  if (!spot) return
  const offsets = offsetsOf(spot.text)
  const from = desk.choices.between(0, offsets.length - 2)
  const to = Math.min(from + desk.choices.between(1, 8), offsets.length - 1)
  spot.text.delete(offsets[from] ?? 0, (offsets[to] ?? 0) - (offsets[from] ?? 0))
}

/** Deletes up to three neighbouring blocks. */
const deleteBlocks: Edit = (desk) => {
  const run = runOf(desk, 3)
  if (run && topLevel(desk).length > run.elements.length + 2) {
    bodyFragment(desk.doc).delete(run.index, run.elements.length)
  }
}

/** Makes a stretch of text bold or italic, or takes that away. */
const mark: Edit = (desk) => {
  const spots = spotsOf(desk).filter(({ text, element }) => text.length > 0 && element.nodeName !== 'codeBlock')
  const spot = desk.choices.pick(spots)
  if (!spot) return
  const offsets = offsetsOf(spot.text)
  const from = desk.choices.between(0, offsets.length - 2)
  const to = desk.choices.between(from + 1, offsets.length - 1)
  const name = desk.choices.chance(0.5) ? 'bold' : 'italic'
  const value = desk.choices.chance(0.7) ? {} : null
  spot.text.format(offsets[from] ?? 0, (offsets[to] ?? 0) - (offsets[from] ?? 0), { [name]: value })
}

/** Changes the level of a heading or ticks a task. */
const setAttribute: Edit = (desk) => {
  const all = topLevel(desk).flatMap((element) => [element, ...childElements(element)])
  const chosen = desk.choices.pick(all.filter(({ nodeName }) => ['heading', 'taskItem'].includes(nodeName)))
  const [name, value] =
    chosen?.nodeName === 'heading' ? ['level', desk.choices.between(1, 6)] : ['checked', desk.choices.chance(0.5)]
  chosen?.setAttribute(name, value as unknown as string)
}

/** All edits but typing, by their names. */
export const edits = {
  split,
  join,
  paste,
  move,
  retype,
  deleteText,
  deleteBlocks,
  mark,
  setAttribute,
  fillEmpty,
} satisfies Record<string, Edit>

/** The characters of a Y text, without marks. */
function plain(text: Y.XmlText): string {
  return (text.toDelta() as { insert: unknown }[])
    .map(({ insert }) => (typeof insert === 'string' ? insert : ' '))
    .join('')
}

function topLevel(desk: Desk): Y.XmlElement[] {
  const children = bodyFragment(desk.doc).toArray()
  return children.filter((child): child is Y.XmlElement => child instanceof Y.XmlElement && !isUntouched(desk, child))
}

function isUntouched({ untouched }: Desk, element: Y.XmlElement): boolean {
  return untouched.has(idOf(element) ?? '')
}

function spotsIn(element: Y.XmlElement): Spot[] {
  if (!isTextblock(element.nodeName)) return childElements(element).flatMap(spotsIn)
  return element.toArray().flatMap((text) => (text instanceof Y.XmlText ? [{ text, element }] : []))
}

function childElements(element: Y.XmlElement): Y.XmlElement[] {
  const isBlock = (child: unknown) => child instanceof Y.XmlElement && isBlockType(child.nodeName)
  return element.toArray().filter((child): child is Y.XmlElement => isBlock(child))
}

/** Neighbouring top-level blocks that may be edited, with the index of the first. */
function runOf(desk: Desk, most: number): { index: number; elements: Y.XmlElement[] } | undefined {
  const all = bodyFragment(desk.doc).toArray()
  const first = desk.choices.pick(topLevel(desk))
  if (!first) return undefined
  const index = all.indexOf(first)
  const elements: Y.XmlElement[] = []
  for (const child of all.slice(index, index + desk.choices.between(1, most))) {
    if (!(child instanceof Y.XmlElement) || isUntouched(desk, child)) break
    elements.push(child)
  }
  return { index, elements }
}

function identify(second: Y.XmlElement, choices: Choices): void {
  const way = choices.weighted({ copied: 5, without: 2, new: 3 })
  if (way === 'without') second.removeAttribute('id')
  if (way === 'new') second.setAttribute('id', newId('block'))
}

function emptied(element: Y.XmlElement): Y.XmlElement {
  const made = new Y.XmlElement(element.nodeName)
  for (const [name, value] of Object.entries(element.getAttributes())) made.setAttribute(name, value as string)
  return made
}

function copyOf(type: unknown): Y.XmlElement | Y.XmlText {
  return (type as Y.XmlElement | Y.XmlText).clone()
}

function indexIn(parent: Y.XmlFragment, child: unknown): number {
  return parent.toArray().indexOf(child as Y.XmlElement)
}

function deltaFrom(text: Y.XmlText, offset: number): object[] {
  let at = 0
  return (text.toDelta() as { insert: unknown; attributes?: object }[]).flatMap((run) => {
    const length = typeof run.insert === 'string' ? run.insert.length : 1
    const skipped = Math.max(0, offset - at)
    at += length
    if (skipped >= length) return []
    return [typeof run.insert === 'string' ? { ...run, insert: run.insert.slice(skipped) } : run]
  })
}
