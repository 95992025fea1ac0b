import type { ID, Transaction } from 'yjs'

/** A stretch of Yjs ids: `length` ids of one client, from `clock` on. Each UTF-16 code unit and each node has an id. */
export type IdRange = { client: number; clock: number; length: number }

/** A range with the value that it has in a map. */
export type ValuedRange<Value> = IdRange & { value: Value }

/** A delete set of Yjs, whose ranges may be in any order and may overlap. */
export type DeleteSet = Transaction['deleteSet']

/**
 * A map from ranges of Yjs ids to values. The ranges of a map do not overlap. A look-up costs a binary search, and the
 * first look-up after ranges were added sorts them.
 */
export class IdMap<Value> {
  readonly #clients = new Map<number, Ranges<ValuedRange<Value>>>()

  /** Adds a range that overlaps no range of the map. */
  add(range: ValuedRange<Value>): void {
    rangesOf(this.#clients, range.client).push(range)
  }

  /** The ranges that have an id in common with a given range, in ascending order. */
  overlapping({ client, clock, length }: IdRange): ValuedRange<Value>[] {
    return this.#clients.get(client)?.between(clock, clock + length) ?? []
  }

  /** The range that contains an id, if there is one. */
  at({ client, clock }: Pick<IdRange, 'client' | 'clock'>): ValuedRange<Value> | undefined {
    return this.overlapping({ client, clock, length: 1 })[0]
  }

  /** Removes the ranges whose value does not pass a test. */
  keepOnly(test: (value: Value) => boolean): void {
    for (const [client, ranges] of this.#clients) {
      if (ranges.keepOnly(({ value }) => test(value)) === 0) this.#clients.delete(client)
    }
  }
}

/** A set of Yjs ids. Ranges may be added in any order and may overlap. */
export class IdSet {
  readonly #clients = new Map<number, Ranges<IdRange>>()

  /** Collects the ids that the delete sets contain. */
  static of(...deleteSets: readonly DeleteSet[]): IdSet {
    const set = new IdSet()
    for (const [client, items] of deleteSets.flatMap(({ clients }) => [...clients])) {
      for (const { clock, len } of items) set.add({ client, clock, length: len })
    }
    return set
  }

  add(range: IdRange): void {
    rangesOf(this.#clients, range.client).push(range)
  }

  has({ client, clock }: Pick<ID, 'client' | 'clock'>): boolean {
    return (this.#clients.get(client)?.between(clock, clock + 1).length ?? 0) > 0
  }

  /** Splits a range into the parts that are in the set and the parts that are not, in ascending order. */
  parts({ client, clock, length }: IdRange): (IdRange & { isIn: boolean })[] {
    const parts: (IdRange & { isIn: boolean })[] = []
    const end = clock + length
    let start = clock
    const append = (to: number, isIn: boolean) => {
      if (to > start) parts.push({ client, clock: start, length: to - start, isIn })
      start = Math.max(start, to)
    }
    for (const range of this.#clients.get(client)?.between(clock, end) ?? []) {
      append(range.clock, false)
      append(Math.min(range.clock + range.length, end), true)
    }
    append(end, false)
    return parts
  }

  /** All ranges of the set. */
  *[Symbol.iterator](): Generator<IdRange> {
    for (const ranges of this.#clients.values()) yield* ranges.all()
  }
}

/** The ids at some stretches of a list of ranges. The stretches are offsets in ascending order. */
export function cutRanges(
  line: readonly IdRange[],
  stretches: readonly { start: number; length: number }[],
): IdRange[] {
  const cut: IdRange[] = []
  let [index, offset] = [0, 0]
  for (const { start, length } of stretches) {
    for (let range = line[index]; range && offset < start + length; range = line[index]) {
      const from = Math.max(start - offset, 0)
      const to = Math.min(start + length - offset, range.length)
      if (from < to) cut.push({ client: range.client, clock: range.clock + from, length: to - from })
      if (offset + range.length > start + length) break
      offset += range.length
      index += 1
    }
  }
  return cut
}

/** Cuts two lists of ranges at the same offsets, and pairs the parts. */
export function zipRanges(lefts: readonly IdRange[], rights: readonly IdRange[]): { left: IdRange; right: IdRange }[] {
  const pairs: { left: IdRange; right: IdRange }[] = []
  let [leftIndex, leftUsed, rightIndex, rightUsed] = [0, 0, 0, 0]
  for (;;) {
    const [left, right] = [lefts[leftIndex], rights[rightIndex]]
    if (!left || !right) return pairs
    const length = Math.min(left.length - leftUsed, right.length - rightUsed)
    pairs.push({
      left: { client: left.client, clock: left.clock + leftUsed, length },
      right: { client: right.client, clock: right.clock + rightUsed, length },
    })
    leftUsed += length
    rightUsed += length
    if (leftUsed === left.length) [leftIndex, leftUsed] = [leftIndex + 1, 0]
    if (rightUsed === right.length) [rightIndex, rightUsed] = [rightIndex + 1, 0]
  }
}

/**
 * The ranges of one client. On first use they are sorted. Ranges that overlap or touch are joined if `join` returns a
 * range for them.
 */
class Ranges<Range extends IdRange> {
  #ranges: Range[] = []
  #isSorted = true

  push(range: Range): void {
    const last = this.#ranges.at(-1)
    const isNext = last !== undefined && last.clock + last.length === range.clock && isPlain(last)
    if (isNext && isPlain(range)) last.length += range.length
    else {
      this.#isSorted &&= last === undefined || last.clock + last.length <= range.clock
      this.#ranges.push(isPlain(range) ? { ...range } : range)
    }
  }

  between(start: number, end: number): Range[] {
    const ranges = this.all()
    const found: Range[] = []
    for (let index = firstEndingAfter(ranges, start); index < ranges.length; index++) {
      const range = ranges[index]
      if (!range || range.clock >= end) break
      found.push(range)
    }
    return found
  }

  all(): readonly Range[] {
    if (!this.#isSorted) this.#ranges = joined(this.#ranges.sort((a, b) => a.clock - b.clock))
    this.#isSorted = true
    return this.#ranges
  }

  /** Returns the number of ranges that are left. */
  keepOnly(test: (range: Range) => boolean): number {
    this.#ranges = this.#ranges.filter(test)
    return this.#ranges.length
  }
}

function rangesOf<Range extends IdRange>(clients: Map<number, Ranges<Range>>, client: number): Ranges<Range> {
  const known = clients.get(client)
  if (known) return known
  const ranges = new Ranges<Range>()
  clients.set(client, ranges)
  return ranges
}

/** True for a range without a value, which may be joined to another range. */
function isPlain(range: IdRange): boolean {
  return !('value' in range)
}

function joined<Range extends IdRange>(ranges: readonly Range[]): Range[] {
  const result: Range[] = []
  for (const range of ranges) {
    const last = result.at(-1)
    if (last && isPlain(range) && last.clock + last.length >= range.clock) {
      last.length = Math.max(last.length, range.clock + range.length - last.clock)
    } else result.push(range)
  }
  return result
}

function firstEndingAfter(ranges: readonly IdRange[], clock: number): number {
  let low = 0
  let high = ranges.length
  while (low < high) {
    const middle = (low + high) >> 1
    const range = ranges[middle]
    if (range && range.clock + range.length <= clock) low = middle + 1
    else high = middle
  }
  return low
}
