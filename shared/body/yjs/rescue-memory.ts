import * as Y from 'yjs'
import type { Match } from '../sequence.ts'
import { bodyFragment, childrenOf, idOf } from './encoding.ts'
import { cutRanges, IdMap, type IdRange, zipRanges } from './id-ranges.ts'
import { keptEnds, keptStretches } from './inline-diff.ts'
import { type LinePart, liveLine, type RemovedType, typeOf } from './rescue-line.ts'
import { itemOf, itemsIn, keep, structsIn } from './yjs-internals.ts'

/**
 * A block, or a text of a block that stayed, whose Y type was deleted. `line` is the text that was deleted with it.
 * `copy` is the element that has the block's id since then, or the element around a removed text; null while there is
 * none.
 */
export type Removed = {
  readonly type: RemovedType
  readonly blockId: string | undefined
  readonly line: readonly LinePart[]
  copy: Y.XmlElement | null
}

/** The most blocks and characters (UTF-16 code units) that a memory holds. */
export type MemoryLimits = { blocks: number; characters: number }

/** The value of a range of ids in a removed line: the first of the ids that the same characters have in the copy. */
type Unit = { removed: Removed; copy: Pick<IdRange, 'client' | 'clock'> }
type Removal = { blocks: Removed[]; characters: number }
type Waiting = { blocks: Removed[]; isSought: boolean }

// The most characters (UTF-16 code units) that are compared for one transaction, to align removed text with its copies.
const mostAligned = 1024 * 1024
// The most copies of copies that are followed.
const mostCopies = 1000

/**
 * Remembers the blocks that were deleted from an open Y document, and keeps Yjs from collecting their types. For each
 * character of a removed line it knows the character that took its place. The oldest removals are forgotten first.
 */
export class RemovedBlocks {
  readonly #doc: Y.Doc
  readonly #limits: MemoryLimits
  readonly #byType = new Map<unknown, Removed>()
  // The removed blocks without a copy, by block id.
  readonly #waiting = new Map<string, Waiting>()
  readonly #units = new IdMap<Unit>()
  #arrived: Removed[] = []
  /** How many characters may still be compared for the current transaction. */
  #alignable = mostAligned
  #removals: Removal[] = []

  constructor(doc: Y.Doc, limits: MemoryLimits) {
    this.#doc = doc
    this.#limits = limits
  }

  get isEmpty(): boolean {
    return this.#byType.size === 0
  }

  /** True if a removed block waits for an element with its id. */
  get isWaiting(): boolean {
    return this.#waiting.size > 0
  }

  /** The removed block or text to which a Y type belongs; undefined for a type that is not remembered. */
  around(type: unknown): Removed | undefined {
    return this.#byType.get(type) ?? (type instanceof Y.XmlText ? this.#byType.get(type.parent) : undefined)
  }

  /**
   * Remembers what one transaction removed, and forgets the oldest removals beyond the limits. Must be called before
   * Yjs collects the types. Of a removal that is itself beyond the limits, the rest is not remembered.
   */
  remember(blocks: readonly Removed[]): void {
    const removal: Removal = { blocks: [], characters: 0 }
    for (const removed of blocks) {
      const characters = lengthOf(removed.line)
      const isFull = removal.blocks.length >= this.#limits.blocks
      if (isFull || removal.characters + characters > this.#limits.characters) continue
      removal.blocks.push(removed)
      removal.characters += characters
      this.#byType.set(removed.type, removed)
      keepItems(removed.type)
      if (removed.blockId !== undefined && removed.copy === null) this.#wait(removed.blockId, removed)
    }
    if (removal.blocks.length === 0) return
    this.#removals.push(removal)
    this.#forgetOldest()
  }

  /** Names an element that has come into the document, or got another id, as the copy of blocks that wait for it. */
  arrive(element: Y.XmlElement): void {
    const blockId = idOf(element)
    const waiting = blockId === undefined ? undefined : this.#waiting.get(blockId)
    if (blockId === undefined || !waiting) return
    this.#waiting.delete(blockId)
    this.link(waiting.blocks, { copy: element, line: liveLine(element) })
    this.#arrived.push(...waiting.blocks)
  }

  /** The blocks whose copy has arrived in a transaction. Must be called once for each transaction, at its end. */
  takeArrived(): Removed[] {
    const arrived = this.#arrived
    this.#arrived = []
    this.#alignable = mostAligned
    return arrived
  }

  /** Names the copy of removed blocks, and aligns the text of each with the text of the copy. */
  link(blocks: readonly Removed[], { copy, line }: { copy: Y.XmlElement; line: readonly LinePart[] }): void {
    const text = textOf(line)
    for (const removed of blocks) {
      removed.copy = copy
      const kept = this.#align(textOf(removed.line), text)
      if (kept.length === 0) continue
      const from = kept.map(({ a, length }) => ({ start: a, length }))
      const to = kept.map(({ b, length }) => ({ start: b, length }))
      this.match(removed, cutRanges(removed.line, from), cutRanges(line, to))
    }
  }

  /** Aligns two texts, the later texts of a transaction that removes very much only at both ends. */
  #align(from: string, to: string): Match[] {
    if (from === '' || to === '') return []
    if (from !== to) this.#alignable -= from.length + to.length
    return from === to || this.#alignable >= 0 ? keptStretches(from, to) : keptEnds(from, to)
  }

  /** Notes that two lists of ranges, which have the same number of ids, stand for the same characters. */
  match(removed: Removed, from: readonly IdRange[], to: readonly IdRange[]): void {
    for (const { left, right } of zipRanges(from, to)) {
      this.#units.add({ ...left, value: { removed, copy: { client: right.client, clock: right.clock } } })
    }
  }

  /**
   * The ids in live lines that stand for ids in removed lines: those of the copies, or of the copies of the copies.
   * `isCounted` leaves out the ids in some of the removed lines.
   */
  liveRanges(range: IdRange, isCounted: (removed: Removed) => boolean = () => true, turn = 0): IdRange[] {
    if (turn === mostCopies) return []
    const units = this.#units.overlapping(range).filter(({ value }) => isCounted(value.removed))
    return units.flatMap((unit) => {
      const start = Math.max(unit.clock, range.clock)
      const length = Math.min(unit.clock + unit.length, range.clock + range.length) - start
      const { client, clock } = unit.value.copy
      const parts = this.#partsOf({ client, clock: clock + start - unit.clock, length })
      return parts.flatMap(({ isLive, part }) => (isLive ? [part] : this.liveRanges(part, undefined, turn + 1)))
    })
  }

  /** The element that has the place of a removed block now; null if the block was deleted. */
  liveCopy(removed: Removed): Y.XmlElement | null {
    let at: Removed | undefined = removed
    for (let turn = 0; at && turn < mostCopies; turn++) {
      if (at.copy === null) this.#seek(at)
      if (at.copy === null || isLive(at.copy)) return at.copy
      at = this.#byType.get(at.copy)
    }
    return null
  }

  #wait(blockId: string, removed: Removed): void {
    const waiting = this.#waiting.get(blockId)
    if (waiting) waiting.blocks.push(removed)
    else this.#waiting.set(blockId, { blocks: [removed], isSought: false })
  }

  /**
   * Looks for another element with the id of a removed block, once. Such an element was there before the block was
   * removed. An element that comes later is noticed when it comes.
   */
  #seek({ blockId }: Removed): void {
    const waiting = blockId === undefined ? undefined : this.#waiting.get(blockId)
    if (blockId === undefined || !waiting || waiting.isSought) return
    waiting.isSought = true
    const found = elementWithId(bodyFragment(this.#doc), blockId)
    if (found) this.arrive(found)
  }

  /** The parts of a range by the items that have the ids, and whether the type around each item is live. */
  #partsOf(range: IdRange): { part: IdRange; isLive: boolean }[] {
    const { client, clock, length } = range
    return [...structsIn(this.#doc, range)].map((struct) => {
      const start = Math.max(struct.id.clock, clock)
      const end = Math.min(struct.id.clock + struct.length, clock + length)
      const part = { client, clock: start, length: end - start }
      return { part, isLive: struct instanceof Y.Item && isLive(struct.parent) }
    })
  }

  /** Forgets a quarter at once, because forgetting looks at all units. */
  #forgetOldest(): void {
    const total = { blocks: 0, characters: 0 }
    for (const { blocks, characters } of this.#removals) {
      total.blocks += blocks.length
      total.characters += characters
    }
    const { blocks, characters } = this.#limits
    if (total.blocks <= blocks && total.characters <= characters) return
    let count = 0
    for (const removal of this.#removals.slice(0, -1)) {
      if (total.blocks <= blocks * 0.75 && total.characters <= characters * 0.75) break
      total.blocks -= removal.blocks.length
      total.characters -= removal.characters
      count += 1
    }
    this.#forget(this.#removals.splice(0, count).flatMap((removal) => removal.blocks))
  }

  #forget(blocks: readonly Removed[]): void {
    const forgotten = new Set(blocks)
    const deleteSet = Y.createDeleteSet()
    for (const { type, blockId } of blocks) {
      this.#byType.delete(type)
      if (blockId !== undefined) this.#stopWaiting(blockId, forgotten)
      const item = itemOf(type)
      if (!item) continue
      keep(item, false)
      const items = deleteSet.clients.get(item.id.client)
      if (items) items.push({ clock: item.id.clock, len: 1 })
      else deleteSet.clients.set(item.id.client, [{ clock: item.id.clock, len: 1 }])
    }
    this.#units.keepOnly(({ removed }) => !forgotten.has(removed))
    Y.tryGc(deleteSet, this.#doc.store, this.#doc.gcFilter)
  }

  #stopWaiting(blockId: string, forgotten: ReadonlySet<Removed>): void {
    const waiting = this.#waiting.get(blockId)
    if (!waiting) return
    waiting.blocks = waiting.blocks.filter((removed) => !forgotten.has(removed))
    if (waiting.blocks.length === 0) this.#waiting.delete(blockId)
  }
}

/** True if no type around a type was deleted, nor the type itself. */
export function isLive(type: unknown): boolean {
  return type instanceof Y.AbstractType && itemOf(type)?.deleted !== true
}

/** Keeps a removed type with its texts and formats. Yjs replaces the characters by a note of their number. */
function keepItems(type: RemovedType): void {
  const own = itemOf(type)
  if (own) keep(own, true)
  for (const item of itemsIn(type)) {
    const child = typeOf(item)
    if (item.content instanceof Y.ContentFormat) keep(item, true)
    else if (child instanceof Y.XmlText) keepItems(child)
  }
}

/** Searches without recursion, because nobody has looked at the depth of the document yet. */
function elementWithId(fragment: Y.XmlFragment, id: string): Y.XmlElement | undefined {
  const open: Y.XmlFragment[] = [fragment]
  for (let parent = open.pop(); parent; parent = open.pop()) {
    for (const child of childrenOf(parent)) {
      if (!(child instanceof Y.XmlElement)) continue
      if (idOf(child) === id) return child
      open.push(child)
    }
  }
  return undefined
}

function textOf(line: readonly LinePart[]): string {
  return line.map(({ text }) => text).join('')
}

function lengthOf(ranges: readonly IdRange[]): number {
  return ranges.reduce((sum, { length }) => sum + length, 0)
}
