import * as Y from 'yjs'
import type { BodyNode, Json } from '../document.ts'
import { bodySchema, inlineTypes, isTextblock } from '../nodes.ts'
import { childrenOf, type Formats, setAttribute, writeNode } from './encoding.ts'
import { cutRanges, IdMap, type IdRange } from './id-ranges.ts'
import { applyInline } from './inline-apply.ts'
import type { InlineEdit } from './inline-diff.ts'
import { lineItems, liveLine, rangeOf } from './rescue-line.ts'
import { isLive, type Removed, type RemovedBlocks } from './rescue-memory.ts'

/**
 * Late inline content. `sources` are its ids in the removed line. Its place is behind the `anchor` in a live line, or
 * at the start of the block's copy.
 */
export type LateText = { removed: Removed; anchor: IdRange | null; nodes: BodyNode[]; sources: IdRange[] }

/**
 * A late block below a removed parent, with the late blocks below it. Its place in the parent's copy is behind the
 * block `after`, or at the start.
 */
export type LateBlock = { parent: Removed; after: Y.XmlElement | null; node: BodyNode; blocks: Removed[] }

/** Everything that editors did late to removed blocks in one transaction. The ranges are ids in live lines. */
export type LateChanges = {
  texts: LateText[]
  blocks: LateBlock[]
  deletions: IdRange[]
  formats: { range: IdRange; set: Formats }[]
  attributes: { removed: Removed; name: string; value: Json }[]
}

// The most places of one line at which late text is put. Text for more places is put at the last of them.
const mostPlaces = 1000

/**
 * Makes late changes in the copies of the removed blocks, within the caller's transaction. The memory learns where the
 * late text stands now, so that text which follows it finds its place.
 */
export function writeLate(doc: Y.Doc, late: LateChanges, memory: RemovedBlocks): void {
  for (const [element, edits] of editsByLine(doc, late, memory)) editLine(element, edits, memory)
  for (const text of late.texts) if (text.anchor === null) insertParagraph(text, memory)
  insertBlocks(late.blocks, memory)
  for (const { removed, name, value } of late.attributes) {
    const copy = memory.liveCopy(removed)
    const isSameType = removed.type instanceof Y.XmlElement && removed.type.nodeName === copy?.nodeName
    if (copy && isSameType) setAttribute(copy, name, value)
  }
}

type LineEdits = { texts: LateText[]; deletions: IdRange[]; formats: LateChanges['formats'] }
type Place = { offset: number; isDeleted: boolean }

function editsByLine(doc: Y.Doc, late: LateChanges, memory: RemovedBlocks): Map<Y.XmlElement, LineEdits> {
  const lines = new Map<Y.XmlElement, LineEdits>()
  const editsOf = (element: Y.XmlElement): LineEdits => {
    const edits = lines.get(element) ?? { texts: [], deletions: [], formats: [] }
    lines.set(element, edits)
    return edits
  }
  for (const text of late.texts) {
    const copy = text.anchor === null ? memory.liveCopy(text.removed) : elementOf(doc, text.anchor)
    if (copy && (text.anchor !== null || isTextblock(copy.nodeName))) editsOf(copy).texts.push(text)
  }
  for (const range of late.deletions) {
    const element = elementOf(doc, range)
    if (element) editsOf(element).deletions.push(range)
  }
  for (const format of late.formats) {
    const element = elementOf(doc, format.range)
    if (element) editsOf(element).formats.push(format)
  }
  return lines
}

/** The live element whose line has an id. */
function elementOf(doc: Y.Doc, { client, clock }: IdRange): Y.XmlElement | undefined {
  const item = Y.getItem(doc.store, Y.createID(client, clock))
  const type = item instanceof Y.Item ? item.parent : undefined
  const element = type instanceof Y.XmlText ? type.parent : type
  return element instanceof Y.XmlElement && isLive(element) ? element : undefined
}

function editLine(element: Y.XmlElement, { texts, deletions, formats }: LineEdits, memory: RemovedBlocks): void {
  const places = placesOf(element)
  const placed = texts.map((text) => ({ text, offset: offsetBehind(text.anchor, places) }))
  placed.sort((a, b) => a.offset - b.offset)
  const removals = deletions.flatMap((range) => offsetsOf(range, places)).map((range) => ({ ...range, insert: [] }))
  const changes = formats.flatMap(({ range, set }) => offsetsOf(range, places).map((part) => ({ ...part, set })))
  changes.sort((a, b) => a.start - b.start)
  noteCopies(element, { texts: placed.map(({ text }) => text), memory }, () =>
    applyInline(element, { edits: [...insertionsOf(placed), ...removals], formats: changes }),
  )
}

/** The offset of each item of a live line. A deleted item has the offset of the next character. */
function placesOf(element: Y.XmlElement): IdMap<Place> {
  const places = new IdMap<Place>()
  let offset = 0
  for (const item of lineItems(element)) {
    const isDeleted = item.deleted || !item.countable
    places.add({ ...rangeOf(item), value: { offset, isDeleted } })
    offset += isDeleted ? 0 : item.length
  }
  return places
}

function offsetBehind(anchor: IdRange | null, places: IdMap<Place>): number {
  if (anchor === null) return 0
  const last = { client: anchor.client, clock: anchor.clock + anchor.length - 1 }
  const place = places.at(last)
  if (!place) return 0
  return place.value.isDeleted ? place.value.offset : place.value.offset + last.clock - place.clock + 1
}

function offsetsOf(range: IdRange, places: IdMap<Place>): { start: number; end: number }[] {
  return places.overlapping(range).flatMap(({ clock, length, value }) => {
    if (value.isDeleted) return []
    const start = Math.max(clock, range.clock)
    const end = Math.min(clock + length, range.clock + range.length)
    return { start: value.offset + start - clock, end: value.offset + end - clock }
  })
}

/** One insertion for each offset. */
function insertionsOf(placed: readonly { text: LateText; offset: number }[]): InlineEdit[] {
  const edits: InlineEdit[] = []
  for (const { text, offset } of placed) {
    const last = edits.at(-1)
    if (last && (last.start === offset || edits.length === mostPlaces)) last.insert.push(...text.nodes)
    else edits.push({ start: offset, end: offset, insert: [...text.nodes] })
  }
  return edits
}

type Noting = { texts: readonly LateText[]; memory: RemovedBlocks }

/** Runs a change of a line that inserts late texts in the given order, and notes the new ids of these texts. */
function noteCopies(element: Y.XmlElement, { texts, memory }: Noting, change: () => void): void {
  const { doc } = element
  if (!doc) return
  const since = Y.getState(doc.store, doc.clientID)
  change()
  const written = liveLine(element).filter(({ client, clock }) => client === doc.clientID && clock >= since)
  const wanted = texts.flatMap(({ nodes }) => nodes.map((node) => (node.type === 'text' ? node.text : '\ufffc')))
  // Where texts were joined, other text was written anew, too. The next late text then goes to the nearest known place.
  if (written.map(({ text }) => text).join('') !== wanted.join('')) return
  let start = 0
  for (const { removed, sources } of texts) {
    const length = sources.reduce((sum, range) => sum + range.length, 0)
    memory.match(removed, sources, cutRanges(written, [{ start, length }]))
    start += length
  }
}

/** Puts late text whose block no longer holds text into a new paragraph behind the block. */
function insertParagraph(text: LateText, memory: RemovedBlocks): void {
  const copy = memory.liveCopy(text.removed)
  if (!copy || isTextblock(copy.nodeName)) return
  const paragraph = insertBehind(copy, { type: 'paragraph' })
  if (!paragraph) return
  const edits = [{ start: 0, end: 0, insert: text.nodes }]
  noteCopies(paragraph, { texts: [text], memory }, () => applyInline(paragraph, { edits, formats: [] }))
}

/** Inserts late blocks, each behind the late block before it if both have the same place. */
function insertBlocks(late: readonly LateBlock[], memory: RemovedBlocks): void {
  let last: { late: LateBlock; element: Y.XmlElement } | null = null
  for (const block of late) {
    const follows = last !== null && last.late.parent === block.parent && last.late.after === block.after
    const element = insertBlock(last !== null && follows ? { ...block, after: last.element } : block, memory)
    last = element && { late: block, element }
  }
}

function insertBlock({ parent, after, node, blocks }: LateBlock, memory: RemovedBlocks): Y.XmlElement | null {
  const place = memory.liveCopy(parent)
  if (!place) return null
  const holdsBlocks = !isTextblock(place.nodeName) && bodySchema.nodes[place.nodeName]?.isLeaf !== true
  const element = holdsBlocks && after === null ? insertAt(place, 0, node) : insertBehind(after ?? place, node)
  const copies = element ? blocksFrom(element) : []
  if (copies.length !== blocks.length) return element
  for (const [index, copy] of copies.entries()) {
    const removed = blocks[index]
    if (removed) memory.link([removed], { copy, line: removed.line.length > 0 ? liveLine(copy) : [] })
  }
  return element
}

function insertBehind(sibling: Y.XmlElement, node: BodyNode): Y.XmlElement | null {
  const { parent } = sibling
  if (!(parent instanceof Y.XmlFragment)) return null
  return insertAt(parent, childrenOf(parent).indexOf(sibling) + 1, node)
}

function insertAt(parent: Y.XmlFragment, index: number, node: BodyNode): Y.XmlElement {
  const element = writeNode(node)
  parent.insert(index, [element])
  return element
}

/** An element and all blocks below it, in document order. */
function blocksFrom(element: Y.XmlElement): Y.XmlElement[] {
  const below = childrenOf(element).filter((child) => child instanceof Y.XmlElement)
  return [element, ...below.filter((child) => !inlineTypes.has(child.nodeName)).flatMap(blocksFrom)]
}
