/**
 * A stretch that two sequences have in common: `length` elements from index `a` of the first sequence and from index
 * `b` of the second.
 */
export type Match = { a: number; b: number; length: number }

// A stretch without unique elements is aligned exactly if its length in one sequence times its length in the other is
// at most this number. A larger stretch counts as rewritten.
const exactAlignmentCells = 40_000

// The most work of one alignment, as an average number of searches for anchors in which an element takes part. An
// anchor is an element that is unique on both sides. A text that people edit needs a few searches. A hostile text can
// yield a single anchor in each search, and would need as many searches as it has elements.
const mostRounds = 40

/**
 * The indices of a longest strictly increasing subsequence, ascending. Negative values stand for elements without a
 * partner and never take part. The cost is O(n log n).
 */
export function longestIncreasing(values: readonly number[]): number[] {
  const ends: number[] = []
  const before = new Array<number>(values.length).fill(-1)
  values.forEach((value, index) => {
    if (value < 0) return
    const rank = firstAtLeast(value, ends, values)
    before[index] = rank > 0 ? (ends[rank - 1] ?? -1) : -1
    ends[rank] = index
  })
  const chain: number[] = []
  for (let index = ends.at(-1) ?? -1; index >= 0; index = before[index] ?? -1) chain.push(index)
  return chain.reverse()
}

/**
 * Aligns two sequences of keys by patience diff. The common start and the common end are matched first, then the
 * elements that are unique on both sides. The stretches between the matched elements are aligned by the same rule.
 * Returns the common stretches in ascending order. The work is limited to a fixed multiple of the length. Beyond this
 * limit, only the common start and end of each remaining stretch are matched.
 *
 * With `longest`, the result is a longest common subsequence as long as the sequences are short enough for a table.
 */
export function matchSequences(
  a: readonly string[],
  b: readonly string[],
  { longest = false }: { longest?: boolean } = {},
): Match[] {
  const matches: Match[] = []
  const open: Stretch[] = [{ a: 0, aEnd: a.length, b: 0, bEnd: b.length }]
  let work = mostRounds * (a.length + b.length)
  for (let stretch = open.pop(); stretch; stretch = open.pop()) {
    const inner = trimCommonEnds({ a, b, stretch, matches })
    if (inner.a === inner.aEnd || inner.b === inner.bEnd) continue
    work -= inner.aEnd - inner.a + inner.bEnd - inner.b
    if (work < 0) continue
    const hasTable = (inner.aEnd - inner.a) * (inner.bEnd - inner.b) <= exactAlignmentCells
    const anchors = longest && hasTable ? [] : uniqueAnchors(a, b, inner)
    // The elements are not spread into one call, because there can be more elements than a call takes arguments.
    if (anchors.length > 0) for (const between of stretchesBetween(anchors, inner)) open.push(between)
    else for (const match of alignExactly(a, b, inner)) matches.push(match)
  }
  return joined(matches.sort((left, right) => left.a - right.a))
}

type Stretch = { a: number; aEnd: number; b: number; bEnd: number }
type Keys = readonly string[]

function firstAtLeast(value: number, ends: readonly number[], values: readonly number[]): number {
  let low = 0
  let high = ends.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((values[ends[middle] ?? 0] ?? 0) < value) low = middle + 1
    else high = middle
  }
  return low
}

function trimCommonEnds(input: { a: Keys; b: Keys; stretch: Stretch; matches: Match[] }): Stretch {
  const { a, b, stretch, matches } = input
  const inner = { ...stretch }
  while (inner.a < inner.aEnd && inner.b < inner.bEnd && a[inner.a] === b[inner.b]) {
    inner.a += 1
    inner.b += 1
  }
  while (inner.a < inner.aEnd && inner.b < inner.bEnd && a[inner.aEnd - 1] === b[inner.bEnd - 1]) {
    inner.aEnd -= 1
    inner.bEnd -= 1
  }
  if (inner.a > stretch.a) matches.push({ a: stretch.a, b: stretch.b, length: inner.a - stretch.a })
  if (inner.aEnd < stretch.aEnd) matches.push({ a: inner.aEnd, b: inner.bEnd, length: stretch.aEnd - inner.aEnd })
  return inner
}

function uniqueAnchors(a: Keys, b: Keys, stretch: Stretch): Match[] {
  const inB = uniquePositions(b, stretch.b, stretch.bEnd)
  const positions = [...uniquePositions(a, stretch.a, stretch.aEnd)].filter(([, position]) => position >= 0)
  const partners = positions.map(([key]) => inB.get(key) ?? -1)
  return longestIncreasing(partners).map((i) => ({ a: positions[i]?.[1] ?? 0, b: partners[i] ?? 0, length: 1 }))
}

/** Maps each key to its position, or to -1 when the key occurs more than once; in order of first occurrence. */
function uniquePositions(keys: Keys, start: number, end: number): Map<string, number> {
  const positions = new Map<string, number>()
  for (let position = start; position < end; position++) {
    const key = keys[position] ?? ''
    positions.set(key, positions.has(key) ? -1 : position)
  }
  return positions
}

/**
 * The stretch before the first anchor, and a stretch from each anchor to the next anchor. A stretch includes its first
 * anchor, which the search for common ends finds again.
 */
function stretchesBetween(anchors: readonly Match[], stretch: Stretch): Stretch[] {
  const starts = [{ a: stretch.a, b: stretch.b }, ...anchors]
  return starts.map(({ a, b }, index) => {
    const next = anchors[index] ?? { a: stretch.aEnd, b: stretch.bEnd }
    return { a, aEnd: next.a, b, bEnd: next.b }
  })
}

/** The longest common subsequence by a table. The stretch holds no element that is unique on both sides. */
function alignExactly(a: Keys, b: Keys, { a: aStart, aEnd, b: bStart, bEnd }: Stretch): Match[] {
  const height = aEnd - aStart
  const width = bEnd - bStart
  if (height * width > exactAlignmentCells) return []
  const row = width + 1
  const longest = new Uint32Array((height + 1) * row)
  const at = (i: number, j: number): number => longest[i * row + j] ?? 0
  for (let i = height - 1; i >= 0; i--) {
    for (let j = width - 1; j >= 0; j--) {
      const same = a[aStart + i] === b[bStart + j]
      longest[i * row + j] = same ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
    }
  }
  const matches: Match[] = []
  for (let i = 0, j = 0; i < height && j < width; ) {
    if (a[aStart + i] === b[bStart + j]) matches.push({ a: aStart + i++, b: bStart + j++, length: 1 })
    else if (at(i + 1, j) >= at(i, j + 1)) i += 1
    else j += 1
  }
  return matches
}

function joined(matches: readonly Match[]): Match[] {
  const result: Match[] = []
  for (const match of matches) {
    const last = result.at(-1)
    if (last && last.a + last.length === match.a && last.b + last.length === match.b) last.length += match.length
    else result.push({ ...match })
  }
  return result
}
