import { neededOf } from '../matching/query.ts'
import { idf, tierThresholds } from './bm25.ts'
import { isAll, type Level, type Rung } from './level.ts'
import { type Pairing, pairsOf } from './pairs.ts'
import { pairShare, shareOfAll, shareOn, sumOf, termShare } from './selectivity.ts'

type Ranking = Pairing & {
  /** The share of all blocks that is in scope. */
  share: number
  /** How many blocks match each term at most, where that has been counted. */
  matching?: readonly number[]
}

/**
 * How much of the matches ranking may look at, from all of them to the fewest, and where it starts: with all when they
 * are few and soon found, else on the widest level with a bounded number of candidates. A level takes the blocks to whose
 * score one of the words adds at least so much, so that it reaches further for a rare word than for a common one. Where
 * pairs of the words hold enough it starts below, with these.
 */
export function ladderOf(ranking: Ranking): { levels: readonly Level[]; first: number } {
  const { terms, frequencies } = ranking
  const blocks = Math.max(1, frequencies.blocks * ranking.share)
  const shares = terms.map((term, index) =>
    Math.min(termShare(term, frequencies), (ranking.matching?.[index] ?? blocks) / blocks),
  )
  const weights = shares.map((share) => idf({ documents: blocks, matching: blocks * share }))
  const scores = weights.flatMap((weight) => tierThresholds.map((threshold) => weight * threshold))
  const strict = ranking.required === terms.length
  const levels: Level[] = []
  const sizes: number[] = []
  for (const score of [0, ...new Set(scores.toSorted((a, b) => a - b))]) {
    const alone = weights.map((weight) => rungAt(score, weight))
    // All blocks with one of the words are all that there can be with every one of them.
    if (levels.length > 0 && strict && alone.includes(0)) continue
    const onRungs = terms.map((term, index) =>
      shareOn(alone[index] ?? 0, { term, share: shares[index] ?? 0, frequencies }),
    )
    const size = blocks * (strict ? shareOfAll(onRungs, shares) : sumOf(onRungs))
    if (size > (sizes.at(-1) ?? Number.POSITIVE_INFINITY) / 2) continue
    levels.push({ alone, paired: null, inRows: terms.length === 1, size: strict ? size : null })
    sizes.push(size)
  }
  const pairs = pairsOf(ranking, { blocks, shares })
  if (areFew(ranking, { blocks, shares, few: pairs === null ? bounds[kindOf(ranking)].few : fewBesidePairs })) {
    return { levels, first: 0 }
  }
  const { most } = bounds[kindOf(ranking)]
  const fitting = sizes.findIndex((size, index) => index > 0 && size <= Math.max(most, 10 * ranking.limit))
  const first = fitting < 0 ? levels.length - 1 : fitting
  if (pairs === null) return { levels, first }
  // What was found by pairs is found on the levels above as well. Words that go together are on more pairs than words that
  // do not: then the levels go on below.
  const above = levels.slice(0, first + 1).map((level) => (isAll(level) ? level : { ...level, paired: pairs.paired }))
  return { levels: [...above, pairs, ...levels.slice(Math.max(first, 1))], first: first + 1 }
}

// Up to `few` matches all are candidates, of more those of the widest level with at most so many. Of words that must all
// match a level may hold too few, which costs another search. Of those that need not, what counts is how many blocks the
// index looks at.
const bounds = {
  single: { few: 1000, most: 400 },
  all: { few: 2000, most: 500 },
  relaxed: { few: 2000, most: 4000 },
} as const

// Where pairs hold enough, to look at more matches costs more.
const fewBesidePairs = 600

function kindOf({ terms, required }: Ranking): keyof typeof bounds {
  if (terms.length === 1) return 'single'
  return required === terms.length ? 'all' : 'relaxed'
}

/** Whether there are so few matches that each can be looked at, and they are soon found. */
function areFew(ranking: Ranking, of: { blocks: number; shares: readonly number[]; few: number }): boolean {
  const { blocks, shares, few } = of
  if (kindOf(ranking) !== 'relaxed') return shareOfAll(shares, shares) * blocks <= few
  const needed = shares.toSorted((a, b) => a - b).slice(0, neededOf(ranking.terms))
  return pairShare(needed) * blocks <= few && sumOf(needed.slice(0, -1)) * blocks <= walked
}

// The list of the most common word is not walked through; the blocks of the others are looked for in it.
const walked = 20_000

/** The widest rung on which a word of a weight adds at least so much to each score; 0 where less is enough. */
function rungAt(score: number, weight: number): Rung {
  return tierThresholds.filter((threshold) => weight * threshold <= score).length as Rung
}
