import fc from 'fast-check'
import * as Y from 'yjs'
import type { BodyNode } from '../../../shared/body/document.ts'
import { bodyFragment, readElement, readYText, writeNodes, writeText } from '../../../shared/body/yjs/encoding.ts'
import { idFrom } from './random-body.ts'
import { wreck } from './wreck.ts'

const kinds = [
  ...['type', 'erase', 'split', 'paste', 'duplicate', 'delete', 'move', 'wreck', 'stray', 'id', 'undo', 'front'],
  ...['deep'],
] as const

/** One edit: its kind, the index of its position, the index of another position, and its content. */
export type WildEdit = { kind: (typeof kinds)[number]; at: number; to: number; nodes: BodyNode[] }

/** A random edit by an editor that follows no rules. Typing is the most frequent edit. */
export function wildEdit(): fc.Arbitrary<WildEdit> {
  return fc.record({
    kind: fc.constantFrom(...kinds, 'type' as const, 'type' as const),
    at: fc.nat(1000),
    to: fc.nat(1000),
    nodes: wreck().map(({ content }) => content),
  })
}

/** An editor that edits a Y document of its own, with an undo history. */
export class WildEditor {
  readonly doc: Y.Doc
  readonly #undo: Y.UndoManager

  constructor(state: Uint8Array) {
    this.doc = new Y.Doc()
    Y.applyUpdate(this.doc, state)
    this.#undo = new Y.UndoManager(bodyFragment(this.doc), { captureTimeout: 0 })
  }

  edit({ kind, at, to, nodes }: WildEdit): void {
    this.doc.transact(() => this.#edit({ kind, at, to, nodes }))
    if (kind === 'undo' && at % 3 > 0) this.#undo.undo()
    if (kind === 'undo' && at % 3 === 0) this.#undo.redo()
  }

  #edit({ kind, at, to, nodes }: WildEdit): void {
    const fragment = bodyFragment(this.doc)
    const elements = elementsBelow(fragment)
    const element = pick(elements, at)
    const text = pick(textsBelow(fragment), at)
    const place = to % 3 === 0 ? 0 : to % (fragment.length + 1)
    if (kind === 'type') text?.insert(to % (text.length + 1), `w${at}`)
    else if (kind === 'erase') text?.delete(to % (text.length + 1), Math.min(3, text.length - (to % (text.length + 1))))
    else if (kind === 'split' && text) split(text, to)
    else if (kind === 'paste' && element) fragment.insert(place, writeNodes([readElement(element)]))
    else if (kind === 'duplicate' && element) duplicate(element)
    else if (kind === 'delete' && fragment.length > 0)
      fragment.delete(at % fragment.length, 1 + (to % 2 && at % fragment.length < fragment.length - 1 ? 1 : 0))
    else if (kind === 'move' && fragment.length > 1) move(fragment, at, to)
    else if (kind === 'wreck') insertInto(at % 2 === 0 ? fragment : (element ?? fragment), to, nodes)
    else if (kind === 'stray') fragment.insert(place, stray(at))
    else if (kind === 'front')
      fragment.insert(0, writeNodes([{ type: 'frontmatter', attrs: { id: idFrom(2000 + at), yaml: 'a: b' } }]))
    else if (kind === 'deep') fragment.insert(place, writeNodes([deepQuotation(28 + (at % 8))]))
    else if (kind === 'id' && element) changeId(element, pick(elements, to), to)
  }
}

function split(text: Y.XmlText, to: number): void {
  const { parent } = text
  if (!(parent instanceof Y.XmlElement)) return
  const holder = parent.parent as Y.XmlFragment
  const offset = to % (text.length + 1)
  const index = holder.toArray().indexOf(parent)
  const value = readYText(text)
    .map((node) => node.text ?? '')
    .join('')
  const copy = readElement(parent)
  // Some editors keep the element of the second half, others the element of the first half.
  const [kept, made] =
    to % 2 === 0 ? [value.slice(0, offset), value.slice(offset)] : [value.slice(offset), value.slice(0, offset)]
  const content = made === '' ? [] : [{ type: 'text', text: made }]
  text.delete(to % 2 === 0 ? kept.length : 0, Math.min(text.length, value.length - kept.length))
  holder.insert(to % 2 === 0 ? index + 1 : index, writeNodes([{ ...copy, content }]))
}

/** Pastes a copy of an element directly above it, with the ids of its blocks. */
function duplicate(element: Y.XmlElement): void {
  const parent = element.parent as Y.XmlFragment
  parent.insert(parent.toArray().indexOf(element), writeNodes([readElement(element)]))
}

function move(fragment: Y.XmlFragment, at: number, to: number): void {
  const index = at % fragment.length
  const child = fragment.get(index)
  if (!(child instanceof Y.XmlElement)) return
  const copy = readElement(child)
  fragment.delete(index, 1)
  fragment.insert(to % (fragment.length + 1), writeNodes([copy]))
}

function insertInto(parent: Y.XmlFragment, to: number, nodes: BodyNode[]): void {
  parent.insert(to % (parent.length + 1), writeNodes(nodes))
}

/** Quotations in quotations. A body may have 32 levels of blocks. */
function deepQuotation(levels: number): BodyNode {
  const content = levels > 1 ? [deepQuotation(levels - 1)] : [{ type: 'text', text: 'w deep' }]
  return { type: levels > 1 ? 'blockquote' : 'paragraph', content }
}

/** Content that may not stand at the top level, and some that is no node at all. */
function stray(at: number): (Y.XmlElement | Y.XmlText)[] {
  const kinds = [
    () => [new Y.XmlText()],
    () => [writeText([{ type: 'text', text: 'w stray' }])],
    () => writeNodes([{ type: 'mention', attrs: { id: idFrom(at % 9), label: 'w stray' } }]),
    () => [new Y.XmlHook('widget') as unknown as Y.XmlElement],
    () => writeNodes([{ type: 'frontmatter', attrs: { id: idFrom(at % 9), yaml: 'a: b' } }]),
    () => writeNodes([{ type: 'paragraph', attrs: { id: idFrom(at % 9) } }]),
  ]
  return kinds[at % kinds.length]?.() ?? []
}

function changeId(element: Y.XmlElement, other: Y.XmlElement | undefined, to: number): void {
  if (to % 4 === 0) element.setAttribute('id', 'bad id')
  else element.setAttribute('id', other?.getAttribute('id') ?? idFrom(to % 9))
}

/** All elements below a fragment or element, in document order. */
export function elementsBelow(parent: Y.XmlFragment): Y.XmlElement[] {
  return parent.toArray().flatMap((child) => (child instanceof Y.XmlElement ? [child, ...elementsBelow(child)] : []))
}

/** All texts below a fragment or element, in document order. */
export function textsBelow(parent: Y.XmlFragment): Y.XmlText[] {
  return parent.toArray().flatMap((child): Y.XmlText[] => {
    if (child instanceof Y.XmlText) return [child]
    return child instanceof Y.XmlElement ? textsBelow(child) : []
  })
}

function pick<T>(items: readonly T[], index: number): T | undefined {
  return items[index % Math.max(items.length, 1)]
}
