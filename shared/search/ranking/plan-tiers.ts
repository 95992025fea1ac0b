import { rarestNeeded } from '../matching/query.ts'
import type { Term } from '../matching/term.ts'
import { idf, type Tier } from './bm25.ts'
import { type Cut, isComplete } from './cuts.ts'
import {
  conjunctionSelectivity,
  type IndexStatistics,
  pairSelectivity,
  sumOf,
  termSelectivity,
  tierSelectivity,
} from './selectivity.ts'
import {
  candidateBounds,
  candidatesPerHit,
  fewBesidePairs,
  narrowedReads,
  narrowerPart,
  pairBounds,
  relaxedListBlocks,
  tierThresholds,
} from './tuning.ts'

/** A query whose best matches are to be found. */
export type TierQuery = {
  terms: readonly Term[]
  /** How many of the terms a match must contain. */
  minimumShouldMatch: number
  statistics: IndexStatistics
  /** How many hits are wanted. */
  limit: number
  /** The share of all blocks that is in scope. */
  share: number
  /** The part of the blocks in the lists of the index that filters leave; 1 without filters. */
  narrowed: number
  /**
   * The cost of reading all blocks of the documents in scope, in blocks of a list of a word. Infinite unless filters
   * leave few documents.
   */
  documentReads: number
  /**
   * For each term an upper bound of the number of blocks that contain it, in the order of `terms`; absent unless the
   * blocks were counted.
   */
  matching?: readonly number[]
}

/**
 * A plan of the cuts of a query, from the widest cut, which holds all matches, to the narrowest. `first` is the index
 * of the cut to start with.
 */
export type TierPlan = { cuts: readonly Cut[]; first: number }

const tiers = [1, 2, 3, 4] as const
const allTiers = [0, ...tiers] as const

/**
 * Plans which cuts of the matches ranking reads. Ranking starts with all matches where they are few and soon found.
 * Otherwise it starts with the widest cut that has a bounded number of candidates. A cut has one bound for all terms:
 * in a match outside the cut, each term adds less than this bound to the score. A rare term adds more for the same
 * impact, so a cut reads a wider tier of a rare term than of a common term. Where pairs of the terms hold enough
 * matches, ranking starts with these pairs, a narrower cut.
 */
export function planTiers(query: TierQuery): TierPlan {
  const { limit } = query
  const { blocks, shares } = estimatesOf(query)
  const { cuts, sizes } = termCuts(query, { blocks, shares })
  const pairs = pairCut(query, { blocks, shares })
  const { few, most } = candidateBounds[kindOf(query)]
  // Beside pairs, what counts is how many blocks are read, and not how many of them pass the filters.
  if (areFew(query, { blocks, shares, few: pairs === null ? few : fewBesidePairs * query.narrowed })) {
    return { cuts, first: 0 }
  }
  const bound = Math.min(Math.max(most, candidatesPerHit * limit), readable(query))
  // A cut with too few hits would cost a pass, so the few documents that filters leave are read at once.
  if (query.documentReads < Number.POSITIVE_INFINITY && bound < pairBounds.spare * limit) return { cuts, first: 0 }
  const fitting = sizes.findIndex((size, index) => index > 0 && size <= bound)
  const first = fitting < 0 ? cuts.length - 1 : fitting
  if (pairs === null) return { cuts, first }
  // Wider cuts must contain what the pairs have found. Narrower cuts follow behind the pairs. Narrower cuts are for
  // words that often stand together, which form more pairs than were estimated.
  const wider = cuts.slice(0, first + 1).map((cut) => (isComplete(cut) ? cut : { ...cut, byPair: pairs.byPair }))
  return { cuts: [...wider, pairs, ...cuts.slice(Math.max(first, 1))], first: first + 1 }
}

/** The estimated number of blocks in scope that match a query; for a relaxed query, that may match. */
export function expectedMatches(query: TierQuery): number {
  const { blocks, shares } = estimatesOf(query)
  if (kindOf(query) !== 'relaxed') return conjunctionSelectivity(shares, shares) * blocks
  if (query.minimumShouldMatch === 1) return sumOf(shares) * blocks
  return pairSelectivity(rarestOf(query, shares)) * blocks
}

type Estimates = {
  /** All blocks in scope. */
  blocks: number
  /** For each term the share of the blocks in scope that contain the term. */
  shares: readonly number[]
}

function estimatesOf({ terms, statistics, share, matching }: TierQuery): Estimates {
  const blocks = Math.max(1, statistics.blocks * share)
  const shares = terms.map((term, index) =>
    Math.min(termSelectivity(term, statistics), (matching?.[index] ?? blocks) / blocks),
  )
  return { blocks, shares }
}

// The most candidates of a first pass for which the lists of the index need not be read too far. Filters leave only a
// part of what is read.
function readable(query: TierQuery): number {
  return query.narrowed === 1 ? Number.POSITIVE_INFINITY : mostReads(query) * query.narrowed
}

function mostReads({ documentReads }: TierQuery): number {
  return documentReads < Number.POSITIVE_INFINITY ? narrowedReads.listed : narrowedReads.unlisted
}

function rarestOf(query: TierQuery, shares: readonly number[]): number[] {
  return shares.toSorted((a, b) => a - b).slice(0, rarestNeeded(query.terms))
}

/** The cuts in which single terms suffice, from the widest to the narrowest, and how many blocks each may hold. */
function termCuts(query: TierQuery, { blocks, shares }: Estimates): { cuts: Cut[]; sizes: number[] } {
  const { terms, statistics } = query
  const weights = shares.map((share) => idf({ documents: blocks, matching: blocks * share }))
  const scores = weights.flatMap((weight) => tierThresholds.map((threshold) => weight * threshold))
  const conjunctive = isConjunctive(query)
  const cuts: Cut[] = []
  const sizes: number[] = []
  for (const score of [0, ...new Set(scores.toSorted((a, b) => a - b))]) {
    const byTerm = weights.map((weight) => tierAt(score, weight))
    // A cut of all blocks with one of the terms is left out, because it includes all matches.
    if (cuts.length > 0 && conjunctive && byTerm.includes(0)) continue
    const inTiers = terms.map((term, index) =>
      tierSelectivity(byTerm[index] ?? 0, { term, share: shares[index] ?? 0, statistics }),
    )
    const size = blocks * (conjunctive ? conjunctionSelectivity(inTiers, shares) : sumOf(inTiers))
    if (size > (sizes.at(-1) ?? Number.POSITIVE_INFINITY) * narrowerPart) continue
    cuts.push({ byTerm, byPair: null, recheckTerms: query.minimumShouldMatch === 1, size: conjunctive ? size : null })
    sizes.push(size)
  }
  return { cuts, sizes }
}

/**
 * Returns the cut of the blocks in which two terms have much impact, or in which one term is rare or has very much
 * impact. The best matches are almost always in this cut, and the index need not read the long list of a common word.
 * Null where the cut seems to hold too few matches that pass the filters. Also null for three or more required terms,
 * because their best blocks often have only average impact for each term.
 */
function pairCut(query: TierQuery, { blocks, shares }: Estimates): Cut | null {
  const { terms, statistics, limit } = query
  const conjunctive = isConjunctive(query)
  if (terms.length === 1 || (conjunctive && terms.length > 2)) return null
  if (sumOf(shares) * (blocks / query.narrowed) <= pairBounds.soonRead) return null
  const inTier = (tier: Tier) =>
    terms.map((term, index) => tierSelectivity(tier, { term, share: shares[index] ?? 0, statistics }))
  const most = readable(query)
  const byTerm = terms.map((_, index) => {
    const bound = Math.min(pairBounds.byTerm, most / terms.length)
    return allTiers.find((tier) => (inTier(tier)[index] ?? 0) * blocks <= bound) ?? null
  })
  const byPair = tiers.find((tier) => pairSelectivity(inTier(tier)) * blocks <= Math.min(pairBounds.byPair, most))
  if (byPair === undefined) return null
  // In a relaxed search, a block also matches if one term suffices by itself, and any other term is there.
  const alone = byTerm.map((tier, index) => {
    const others = Math.min(1, sumOf(shares) - (shares[index] ?? 0))
    return conjunctive || tier === null ? 0 : (inTier(tier)[index] ?? 0) * others
  })
  const size = (pairSelectivity(inTier(byPair)) + sumOf(alone)) * blocks
  const isSparse = size < pairBounds.spare * limit
  if (isSparse && (conjunctive || query.narrowed < 1)) return null
  return { byTerm, byPair, recheckTerms: true, size: conjunctive ? size : null }
}

function isConjunctive({ terms, minimumShouldMatch }: TierQuery): boolean {
  return minimumShouldMatch === terms.length
}

function kindOf(query: TierQuery): keyof typeof candidateBounds {
  if (query.terms.length === 1) return 'single'
  return isConjunctive(query) ? 'all' : 'relaxed'
}

/** Whether the matches are few enough to rank all of them, and the index finds them soon. */
function areFew(query: TierQuery, { blocks, shares, few }: Estimates & { few: number }): boolean {
  // Few matches of a narrowed search are soon found in the lists of the words, or in the few documents in scope.
  const matches = expectedMatches(query)
  if (query.narrowed < 1 && Math.min(query.documentReads, matches / query.narrowed) > mostReads(query)) return false
  if (kindOf(query) !== 'relaxed') return matches <= few
  const read = query.minimumShouldMatch === 1 ? shares : rarestOf(query, shares).slice(0, -1)
  return matches <= few && sumOf(read) * (blocks / query.narrowed) <= relaxedListBlocks
}

/** The narrowest tier whose threshold times the weight of a term is at most a score; 0 where every product is more. */
function tierAt(score: number, weight: number): Tier {
  return tierThresholds.filter((threshold) => weight * threshold <= score).length as Tier
}
