import type { Term } from '../matching/query.ts'
import type { Frequencies } from './frequencies.ts'
import type { Level, Rung } from './level.ts'
import { pairShare, shareOn, sumOf } from './selectivity.ts'

/** A query whose words may be sought in pairs. */
export type Pairing = {
  terms: readonly Term[]
  /** How many of the terms a match must contain. */
  required: number
  frequencies: Frequencies
  /** How many hits are sought. */
  limit: number
}

/**
 * The blocks in which two of several words have much impact, or one that is rare or has very much. The best are almost
 * always among them, and the index need not read the long lists of all blocks with a common word. Null where they seem to
 * hold too few matches.
 */
export function pairsOf(
  pairing: Pairing,
  { blocks, shares }: { blocks: number; shares: readonly number[] },
): Level | null {
  const { terms, required, frequencies, limit } = pairing
  const strict = required === terms.length
  // Of three common words that must all match, the best often have no more than usual of each.
  if (terms.length === 1 || (strict && terms.length > 2) || sumOf(shares) * blocks <= soonRead) return null
  const onRung = (rung: Rung) =>
    terms.map((term, index) => shareOn(rung, { term, share: shares[index] ?? 0, frequencies }))
  const alone = terms.map((_, index) => rungs.find((rung) => (onRung(rung)[index] ?? 0) * blocks <= mostAlone) ?? null)
  const paired = tiers.find((rung) => pairShare(onRung(rung)) * blocks <= mostPairs)
  if (paired === undefined) return null
  // Where they hold hardly enough, another search is likely.
  const size = strict ? pairShare(onRung(paired)) * blocks : null
  return size !== null && size < 1.5 * limit ? null : { alone, paired, inRows: true, size }
}

// The index is soon through lists of so many blocks, so that they need not be avoided.
const soonRead = 16_000

// In how many blocks a word may be enough alone, and how many pairs there may be. Each is looked at, in 3 µs.
const mostAlone = 150
const mostPairs = 250

const tiers = [1, 2, 3, 4] as const
const rungs = [0, ...tiers] as const
