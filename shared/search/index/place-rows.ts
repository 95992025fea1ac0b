import { longestIncreasing } from '../../body/sequence.ts'

/** The distance between rows of a fresh index: room for sixteen inserts at one place before all rows are moved. */
const gap = 65_536

/**
 * Gives each item of a list a place in ascending order. Items that have one keep it, but for the fewest that stand out
 * of order, so that an insert or a move writes one row; only when there is no room left between two places are all laid
 * out anew. `known` is null for an item without a place. The first place given is `gap`; 0 is the title's.
 */
export function placeRows(known: readonly (number | null)[]): number[] {
  const inOrder = new Set(longestIncreasing(known.map((place) => place ?? -1)))
  const kept = known.map((place, index) => (inOrder.has(index) ? place : null))
  const nextKept = nextPlaces(kept)
  const places: number[] = []
  while (places.length < known.length) {
    const index = places.length
    const place = kept[index] ?? null
    if (place !== null) {
      places.push(place)
      continue
    }
    const next = nextKept[index] ?? known.length
    const between = spread({ after: places.at(-1) ?? 0, before: kept[next] ?? null, count: next - index })
    if (between === null) return known.map((_, position) => (position + 1) * gap)
    // Not spread into the call: there can be more of them than a call takes arguments.
    for (const free of between) places.push(free)
  }
  return places
}

/** For each place where the next item stands that keeps its own; the length of the list where there is none. */
function nextPlaces(kept: readonly (number | null)[]): number[] {
  const next = new Array<number>(kept.length)
  let found = kept.length
  for (let index = kept.length - 1; index >= 0; index -= 1) {
    if (kept[index] !== null) found = index
    next[index] = found
  }
  return next
}

function spread(room: { after: number; before: number | null; count: number }): number[] | null {
  const { after, before, count } = room
  const step = before === null ? gap : Math.floor((before - after) / (count + 1))
  return step < 1 ? null : Array.from({ length: count }, (_, index) => after + step * (index + 1))
}
