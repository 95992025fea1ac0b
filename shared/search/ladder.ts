import { idf, tierThresholds } from './bm25.ts'
import type { Frequencies } from './frequencies.ts'
import type { Term } from './query.ts'
import { termShare, tierShare } from './shares.ts'
import type { Level, Rung } from './tiers.ts'

type Ranking = {
  terms: readonly Term[]
  /** How many of the terms a match must contain. */
  required: number
  frequencies: Frequencies
  /** The share of all blocks that is in scope. */
  share: number
  /** How many blocks match each term at most, where that has been counted. */
  matching?: readonly number[]
}

/**
 * How much of the matches ranking may look at, from all of them to the fewest, and where it starts: with all when they
 * are few, else on the widest level with a bounded number of candidates. A level takes the blocks to whose score one of
 * the words adds at least so much, so that it reaches further for a rare word than for a common one.
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
  const steps: { level: Level; size: number }[] = []
  for (const score of [0, ...new Set(scores.toSorted((a, b) => a - b))]) {
    const level = weights.map((weight) => rungAt(score, weight))
    // All blocks with one of the words are all that there can be with every one of them.
    if (steps.length > 0 && strict && level.includes(0)) continue
    const onRungs = level.map((rung, index) => {
      const [term, share = 0] = [terms[index], shares[index]]
      return term === undefined || rung === 0 ? share : Math.min(share, tierShare(term, { tier: rung, frequencies }))
    })
    const size = blocks * (strict ? shareOfAll(onRungs, shares) : sumOf(onRungs))
    if (size <= (steps.at(-1)?.size ?? Number.POSITIVE_INFINITY) / 2) steps.push({ level, size })
  }
  const { few, most } = bounds[terms.length === 1 ? 'single' : strict ? 'all' : 'relaxed']
  const fitting = steps.findIndex(({ size }, index) => size <= (index === 0 ? few : most))
  return { levels: steps.map(({ level }) => level), first: fitting < 0 ? steps.length - 1 : fitting }
}

// Up to `few` matches all are candidates, of more those of the widest level with at most so many. Of words that must all
// match a level may hold too few, which costs another search. Of those that need not, what counts is how many blocks the
// index looks at.
const bounds = {
  single: { few: 1000, most: 1500 },
  all: { few: 2000, most: 500 },
  relaxed: { few: 4000, most: 4000 },
} as const

/** The widest rung on which a word of a weight adds at least so much to each score; 0 where less is enough. */
function rungAt(score: number, weight: number): Rung {
  return tierThresholds.filter((threshold) => weight * threshold <= score).length as Rung
}

/** The share of blocks with every one of the terms, one of them on its rung, taken as independent of each other. */
function shareOfAll(onRungs: readonly number[], shares: readonly number[]): number {
  const all = shares.reduce((product, share) => product * share, 1)
  const onOne = sumOf(onRungs.map((onRung, index) => onRung / (shares[index] || 1)))
  return all * Math.min(1, onOne)
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0)
}
