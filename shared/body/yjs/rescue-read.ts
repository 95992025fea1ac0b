import * as Y from 'yjs'
import { inlineTypes, isTextblock } from '../nodes.ts'
import { equalJson } from './align.ts'
import type { Formats } from './encoding.ts'
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
  walkLine,
} from './rescue-line.ts'
import { isLive, type Removed, type RemovedBlocks } from './rescue-memory.ts'
import type { LateChanges, LateText } from './rescue-write.ts'

/**
 * A transaction that is being looked at: the ids that it deleted, the ids that its update names as deleted (null stands
 * for all ids that it deleted), and the ids that came from the editors of this process.
 */
export type Look = { transaction: Y.Transaction; deleted: IdSet; named: IdSet | null; own: IdSet }

/**
 * Reads what a transaction removed, before Yjs collects it: every block, and every text that was taken out of a block
 * which stays. The line of a block is the text that the remover knew. `hasLate` is true if it holds other text.
 */
export function removedIn(look: Look): { removed: Removed; hasLate: boolean }[] {
  const found: { removed: Removed; hasLate: boolean }[] = []
  const { transaction } = look
  Y.iterateDeletedStructs(transaction, transaction.deleteSet, (item) => {
    const type = item instanceof Y.Item ? typeOf(item) : undefined
    if (type instanceof Y.XmlElement && !inlineTypes.has(type.nodeName)) {
      const { line, hasLate } = lineAtRemoval(type, look)
      const isText = isTextblock(type.nodeName)
      found.push({ removed: { type, blockId: removedId(type), line: isText ? line : [], copy: null }, hasLate })
    } else if (type instanceof Y.XmlText && type.parent instanceof Y.XmlElement && isLive(type.parent)) {
      const { line, hasLate } = lineAtRemoval(type, look)
      found.push({ removed: { type, blockId: undefined, line, copy: type.parent }, hasLate })
    }
  })
  return found
}

/** Adds to `late` what the transaction did late to a removed block that has a copy. Returns the late blocks below it. */
export function readLate(
  removed: Removed,
  { look, memory, late }: { look: Look; memory: RemovedBlocks; late: LateChanges },
): void {
  const { type } = removed
  if (type instanceof Y.XmlElement && !isTextblock(type.nodeName)) readLateBlocks(removed, { look, memory, late })
  else readLateText(removed, { look, memory, late })
}

/** The id that a removed block had. Its attributes are deleted with it, but not collected yet. */
export function removedId(element: Y.XmlElement): string | undefined {
  const id: unknown = element._map.get('id')?.content.getContent().at(-1)
  return typeof id === 'string' ? id : undefined
}

type Reading = { look: Look; memory: RemovedBlocks; late: LateChanges }

function readLateText(removed: Removed, { look, memory, late }: Reading): void {
  const divide = divisionOf(removed.type, look)
  let anchor: IdRange | null = null
  let open: LateText | null = null
  for (const visit of walkLine(removed.type, divide)) {
    const { part } = visit
    if (part.state === 'late') {
      const nodes = lateNodes(visit, divide)
      if (nodes.length === 0) continue
      if (open === null) {
        open = { removed, anchor, nodes: [], sources: [] }
        late.texts.push(open)
      }
      open.nodes.push(...nodes)
      open.sources.push(part)
      continue
    }
    const now = memory.liveRanges(part)
    if (now.length === 0) continue
    anchor = now.at(-1) ?? null
    open = null
    const set = part.state === 'known' ? formatChange(visit) : {}
    if (Object.keys(set).length > 0) late.formats.push(...now.map((range) => ({ range, set })))
  }
}

/** The marks that an editor set or ended late, around text that has a copy. */
function formatChange({ known, seen }: { known: object; seen: object }): Formats {
  const [before, after] = [known as Formats, seen as Formats]
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  const changed = [...names].filter((name) => !equalJson(before[name], after[name]))
  return Object.fromEntries(changed.map((name) => [name, after[name] ?? null]))
}

function readLateBlocks(removed: Removed, { look, memory, late }: Reading): void {
  const divide = divisionOf(removed.type, look)
  const copy = memory.liveCopy(removed)
  let after: Y.XmlElement | null = null
  for (const visit of walkLine(removed.type, divide)) {
    if (visit.part.state === 'late') {
      const [node] = lateNodes(visit, divide)
      if (node) late.blocks.push({ parent: removed, after, node, blocks: lateBlocks(visit.item, divide) })
      continue
    }
    const sibling = memory.around(typeOf(visit.item))
    const place = sibling ? memory.liveCopy(sibling) : null
    if (place && place.parent === copy) after = place
  }
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

function lineAtRemoval(type: RemovedType, look: Look): { line: LinePart[]; hasLate: boolean } {
  const line: LinePart[] = []
  let hasLate = false
  for (const item of lineItems(type)) {
    for (const part of look.deleted.parts(rangeOf(item))) {
      if (!part.isIn) continue
      for (const { isIn, ...known } of partsOf(look.named, part)) {
        if (isIn && item.countable) line.push(linePart(item, known))
        else if (!isIn) hasLate ||= look.own.parts(known).some((own) => own.isIn)
      }
    }
  }
  return { line, hasLate }
}

/**
 * Tells the late text of a removed type from the rest. An id is late if it came from an editor of this process, was
 * deleted in this transaction, and the update does not name it: it was deleted only because of what is around it. If
 * the update names the removed type itself, the deletions of its content say nothing: they come with the removal.
 */
function divisionOf(type: RemovedType, { deleted, named, own }: Look): Division {
  const isRemoval = named === null || (type._item !== null && named.has(type._item.id))
  return (range) =>
    partsOf(named, range).flatMap(({ isIn: isNamed, ...part }): Part[] => {
      if (isNamed) return [{ ...part, state: isRemoval ? 'known' : 'gone' }]
      return own.parts(part).flatMap(({ isIn: isOwn, ...mine }): Part[] => {
        if (!isOwn) return [{ ...mine, state: 'known' }]
        return deleted.parts(mine).map(({ isIn, ...now }): Part => ({ ...now, state: isIn ? 'late' : 'known' }))
      })
    })
}

function partsOf(named: IdSet | null, range: IdRange): (IdRange & { isIn: boolean })[] {
  return named === null ? [{ ...range, isIn: true }] : named.parts(range)
}
