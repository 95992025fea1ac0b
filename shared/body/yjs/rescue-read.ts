import * as Y from 'yjs'
import type { BodyNode, Json } from '../document.ts'
import { equalJson } from '../equal-json.ts'
import { inlineTypes, isTextblock } from '../nodes.ts'
import { attributeValue, type Formats } from './encoding.ts'
import type { IdRange, IdSet } from './id-ranges.ts'
import {
  type Division,
  type LinePart,
  lateNodes,
  lineItems,
  linePart,
  type Part,
  type RemovedType,
  rangeOf,
  typeOf,
  type Visit,
  walkLine,
} from './rescue-line.ts'
import { isLive, type Removed, type RemovedBlocks } from './rescue-memory.ts'
import type { LateChanges, LateText } from './rescue-write.ts'
import { attributeItems, itemOf } from './yjs-internals.ts'

/**
 * A transaction that is being looked at: the ids that it deleted, the ids that its update names as deleted (null stands
 * for all ids that it deleted), and a test which says of ids that were not named whether this process rescues them.
 */
export type Look = {
  transaction: Y.Transaction
  deleted: IdSet
  named: IdSet | null
  ours: (range: IdRange) => (IdRange & { isIn: boolean })[]
}

/**
 * A removed block. `hasLate` is true if it holds more than the remover knew which this process rescues, and `hasOthers`
 * if it holds more which other processes rescue.
 */
export type Removal = { removed: Removed; hasLate: boolean; hasOthers: boolean }

/**
 * Reads what a transaction removed, before Yjs collects it: every block, and every text that was taken out of a block
 * which stays. The line of a block is the text that the remover knew. Blocks that the remover did not know and this
 * process rescues are not among them, since they are late themselves.
 */
export function removedIn(look: Look): Removal[] {
  const found: Removal[] = []
  const { transaction } = look
  Y.iterateDeletedStructs(transaction, transaction.deleteSet, (item) => {
    const type = item instanceof Y.Item && !isLateBlock(item, look) ? typeOf(item) : undefined
    if (type instanceof Y.XmlElement && !inlineTypes.has(type.nodeName)) {
      const { line, ...late } = lineAtRemoval(type, look)
      const isText = isTextblock(type.nodeName)
      found.push({ removed: { type, blockId: removedId(type), line: isText ? line : [], copy: null }, ...late })
    } else if (type instanceof Y.XmlText && type.parent instanceof Y.XmlElement && isLive(type.parent)) {
      const { line, ...late } = lineAtRemoval(type, look)
      found.push({ removed: { type, blockId: undefined, line, copy: type.parent }, ...late })
    }
  })
  return found
}

/**
 * The late changes of a removed block that one transaction made. They are the attributes that it set, and the text or
 * the children of the block. Late parts stand among the parts that were known.
 */
export type LateContent = { removed: Removed; attributes: { name: string; value: Json }[] } & (
  | { line: LateLinePart[] }
  | { children: LateChild[] }
)

/** Reads the late changes of a removed block that a transaction made. Call it before Yjs frees them. */
export function readLate(removed: Removed, look: Look): LateContent {
  const { type } = removed
  const divide = divisionOf(type, look)
  const visits = [...walkLine(type, divide)]
  const attributes = lateAttributes(type, look)
  if (type instanceof Y.XmlElement && !isTextblock(type.nodeName)) {
    return { removed, attributes, children: visits.flatMap((visit) => lateChild(visit, divide)) }
  }
  return { removed, attributes, line: visits.map((visit) => lateLinePart(visit, divide)) }
}

/** The late blocks of a content, which are to be remembered like removed blocks. */
export function blocksIn(content: LateContent): Removed[] {
  return 'children' in content ? content.children.flatMap(({ blocks }) => blocks) : []
}

/** Whether there is anything in a content. */
export function isChange(content: LateContent): boolean {
  if (content.attributes.length > 0) return true
  if ('children' in content) return content.children.some(({ node }) => node !== null)
  return content.line.some(({ nodes, set }) => (nodes ?? Object.keys(set)).length > 0)
}

/** The number of parts and characters of a content. */
export function sizeOf(content: LateContent): number {
  if ('children' in content) return content.children.reduce((sum, { blocks }) => sum + 1 + blocks.length, 0)
  return content.line.reduce((sum, { range, nodes }) => sum + (nodes ? range.length : 1), 0)
}

/** Adds late content to `late`, at its place in the copy that the removed block has now. */
export function placeLate(content: LateContent, memory: RemovedBlocks, late: LateChanges): void {
  const { removed, attributes } = content
  late.attributes.push(...attributes.map((attribute) => ({ removed, ...attribute })))
  if ('line' in content) placeText(content, memory, late)
  else placeBlocks(content, memory, late)
}

/** The id that a removed block had. Its attributes are deleted with it, but not collected yet. */
function removedId(element: Y.XmlElement): string | undefined {
  const id: unknown = attributeItems(element).get('id')?.content.getContent().at(-1)
  return typeof id === 'string' ? id : undefined
}

/** A part of a line: known ids with the marks that were set or ended there, or late ids with their nodes. */
type LateLinePart = { range: IdRange; nodes: BodyNode[] | null; set: Formats }

/** A child of a removed block: a known child with its type, or a late child with its node and the blocks in it. */
type LateChild = { type: unknown; node: BodyNode | null; blocks: Removed[] }

function lateLinePart(visit: Visit, divide: Division): LateLinePart {
  const { client, clock, length, state } = visit.part
  const range = { client, clock, length }
  if (state === 'late') return { range, nodes: lateNodes(visit, divide), set: {} }
  return { range, nodes: null, set: state === 'known' ? formatChange(visit) : {} }
}

function lateChild(visit: Visit, divide: Division): LateChild[] {
  const type = typeOf(visit.item)
  if (visit.part.state !== 'late') return [{ type, node: null, blocks: [] }]
  const [node] = lateNodes(visit, divide)
  return node ? [{ type, node, blocks: lateBlocks(visit.item, divide) }] : []
}

function placeText(
  { removed, line }: Extract<LateContent, { line: unknown }>,
  memory: RemovedBlocks,
  late: LateChanges,
): void {
  let anchor: IdRange | null = null
  let open: LateText | null = null
  for (const { range, nodes, set } of line) {
    if (nodes === null) {
      const now = memory.liveRanges(range)
      if (now.length === 0) continue
      anchor = now.at(-1) ?? null
      open = null
      if (Object.keys(set).length > 0) late.formats.push(...now.map((part) => ({ range: part, set })))
    } else if (nodes.length > 0) {
      if (open === null) {
        open = { removed, anchor, nodes: [], sources: [] }
        late.texts.push(open)
      }
      open.nodes.push(...nodes)
      open.sources.push(range)
    }
  }
}

function placeBlocks(
  { removed, children }: Extract<LateContent, { children: unknown }>,
  memory: RemovedBlocks,
  late: LateChanges,
): void {
  const copy = memory.liveCopy(removed)
  let after: Y.XmlElement | null = null
  for (const { type, node, blocks } of children) {
    if (node) late.blocks.push({ parent: removed, after, node, blocks })
    const sibling = node ? undefined : memory.around(type)
    const place = sibling ? memory.liveCopy(sibling) : null
    if (place && place.parent === copy) after = place
  }
}

/** The marks that an editor set or ended late, around text that has a copy. */
function formatChange({ known, seen }: { known: object; seen: object }): Formats {
  const [before, after] = [known as Formats, seen as Formats]
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  const changed = [...names].filter((name) => !equalJson(before[name], after[name]))
  return Object.fromEntries(changed.map((name) => [name, after[name] ?? null]))
}

/** A late block and the late blocks below it, in document order, to be remembered like removed blocks. */
function lateBlocks(item: Y.Item, divide: Division): Removed[] {
  const type = typeOf(item)
  if (!(type instanceof Y.XmlElement) || inlineTypes.has(type.nodeName)) return []
  const items = [...lineItems(type)]
  const parts = items.flatMap((child) => divide(rangeOf(child)).map((part) => ({ child, part })))
  const late = parts.filter(({ child, part }) => child.countable && part.state === 'late')
  const line = isTextblock(type.nodeName) ? late.map(({ child, part }) => linePart(child, part)) : []
  const below = late.flatMap(({ child }) => lateBlocks(child, divide))
  return [{ type, blockId: undefined, line, copy: null }, ...below]
}

/** Whether the remover did not know of a block that this process rescues. */
export function isLateBlock(item: Y.Item | null, { named, ours }: Look): boolean {
  return item !== null && named?.has(item.id) === false && ours(rangeOf(item)).every(({ isIn }) => isIn)
}

function lineAtRemoval(type: RemovedType, look: Look): { line: LinePart[] } & Omit<Removal, 'removed'> {
  const { deleted, named, ours } = look
  const line: LinePart[] = []
  const attributes = lateAttributes(type, { ...look, ours: (range) => [{ ...range, isIn: true }] })
  let hasLate = lateAttributes(type, look).length > 0
  let hasOthers = !hasLate && attributes.length > 0
  // The remover did not know a block that the update does not name, so that its text is of others as well.
  const own = itemOf(type)
  const isKnown = own === null || named?.has(own.id) !== false
  for (const item of lineItems(type)) {
    for (const part of deleted.parts(rangeOf(item)).filter(({ isIn }) => isIn)) {
      for (const { isIn: isNamed, ...rest } of partsOf(named, part)) {
        for (const { isIn: isOurs, ...text } of isNamed ? [{ ...rest, isIn: false }] : ours(rest)) {
          if (isOurs) hasLate = true
          else if (!isNamed) hasOthers = true
          if (isOurs) continue
          if ((isNamed || !isKnown) && item.countable) line.push(linePart(item, text))
        }
      }
    }
  }
  return { line, hasLate, hasOthers }
}

/** The attributes of a removed block that were set without knowledge of the removal, or unknown to the remover. */
function lateAttributes(type: RemovedType, { deleted, named, ours }: Look): { name: string; value: Json }[] {
  return [...attributeItems(type)].flatMap(([name, item]) => {
    const isLate = name !== 'id' && deleted.has(item.id) && named?.has(item.id) === false
    if (!isLate || !ours(rangeOf(item)).every(({ isIn }) => isIn)) return []
    return { name, value: attributeValue(item.content.getContent().at(-1)) }
  })
}

/**
 * Tells the late text of a removed type from the rest. An id is late if this process rescues it, it was deleted in this
 * transaction, and the update does not name it: it was deleted only because of what is around it. If the update names
 * the removed type itself, the deletions of its content say nothing: they come with the removal.
 */
function divisionOf(type: RemovedType, { deleted, named, ours }: Look): Division {
  const own = itemOf(type)
  const isRemoval = named === null || (own !== null && named.has(own.id))
  return (range) =>
    partsOf(named, range).flatMap(({ isIn: isNamed, ...part }): Part[] => {
      if (isNamed) return [{ ...part, state: isRemoval ? 'known' : 'gone' }]
      return ours(part).flatMap(({ isIn: isOurs, ...mine }): Part[] => {
        if (!isOurs) return [{ ...mine, state: 'known' }]
        return deleted.parts(mine).map(({ isIn, ...now }): Part => ({ ...now, state: isIn ? 'late' : 'known' }))
      })
    })
}

function partsOf(named: IdSet | null, range: IdRange): (IdRange & { isIn: boolean })[] {
  return named === null ? [{ ...range, isIn: true }] : named.parts(range)
}
