/**
 * The sum of the shares of the lexemes that begin with a text, at most 1. `shares` are those of the most common
 * lexemes. A block with several of the lexemes is counted for each of them, so the sum may be too high.
 */
export function shareOfBeginning(beginning: string, shares: ReadonlyMap<string, number>): number {
  const { lexemes, sums } = sorted(shares)
  const from = firstAtLeast(lexemes, beginning)
  const to = firstAtLeast(lexemes, `${beginning}\uffff`)
  return Math.min(1, (sums[to] ?? 0) - (sums[from] ?? 0))
}

/** Lexemes in the order of their UTF-16 units; `sums` has for each index the shares of all lexemes before it. */
type SortedShares = { lexemes: readonly string[]; sums: readonly number[] }

const known = new WeakMap<ReadonlyMap<string, number>, SortedShares>()

// Statistics are read once a minute, and hold some thousand lexemes.
function sorted(shares: ReadonlyMap<string, number>): SortedShares {
  const before = known.get(shares)
  if (before !== undefined) return before
  const lexemes = [...shares.keys()].sort()
  const sums = [0]
  for (const lexeme of lexemes) sums.push((sums.at(-1) ?? 0) + (shares.get(lexeme) ?? 0))
  const result = { lexemes, sums }
  known.set(shares, result)
  return result
}

function firstAtLeast(lexemes: readonly string[], text: string): number {
  let low = 0
  let high = lexemes.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((lexemes[middle] ?? '') < text) low = middle + 1
    else high = middle
  }
  return low
}
