import { anyTwoOf, type Step, type Term, type TermQuery } from '../matching/query.ts'
import { quoteLexeme, tierLexeme, unmarked } from '../text/lexemes.ts'
import { type Field, impactOutside, type Tier } from './bm25.ts'
import { sumOf } from './selectivity.ts'
import { scoredForms, tierThresholds, titleTiers } from './tuning.ts'

/** A part of the matches of a query that ranking reads: the matches in which some term has a high impact. */
export type Cut = {
  /** For each term the tier in which the term by itself puts a match into the cut; null: no tier does. */
  byTerm: readonly (Tier | null)[]
  /** The tier in which any two terms together put a match into the cut; null: no tier does. */
  byPair: Tier | null
  /** Whether the index is asked for the cut alone, and the rows found are checked for the terms. */
  recheckTerms: boolean
  /** The estimated number of matches; null where it is unknown. */
  size: number | null
}

/** Whether a cut holds all matches. */
export function isComplete({ byTerm }: Cut): boolean {
  return byTerm.every((tier) => tier === 0)
}

/**
 * The `::tsquery` of the blocks of a cut; null for a cut of all matches. Every cut contains the blocks in which a
 * quoted phrase stands as it was written, since such blocks rank first.
 */
export function cutCondition(terms: readonly (Term & TermQuery)[], cut: Cut): string | null {
  if (isComplete(cut)) return null
  const { byTerm, byPair } = cut
  const alternatives = terms.flatMap((term, index) => {
    const tier = byTerm[index] ?? null
    if (tier === 0) return [`(${term.tsquery})`]
    const verbatim = term.verbatim === null ? [] : [`(${term.verbatim})`]
    return tier === null ? verbatim : [inTier(term, tier), ...verbatim]
  })
  if (byPair !== null) {
    const others = terms.filter((_, index) => byTerm[index] !== 0)
    if (others.length > 1) {
      alternatives.push(anyTwoOf(others.map((term) => ({ tsquery: inTier(term, byPair) }))))
    }
  }
  return alternatives.join(' | ')
}

/** A query, and the cut of its matches that was read. */
export type CutQuery = {
  terms: readonly Term[]
  /** The rarities of the terms. */
  weights: readonly number[]
  languages: readonly string[]
  averageLength: number
  cut: Cut
}

/**
 * The upper bound of the score of a match outside a cut: the sum of what each term can add at most. The algorithm
 * MaxScore has the same bound. Infinite if `isBoundable` is false for a term.
 */
export function upperBound(query: CutQuery): number {
  if (isComplete(query.cut)) return 0
  if (!query.terms.every((term) => isBoundable(term, query.languages))) return Number.POSITIVE_INFINITY
  return Math.max(...(['title', 'heading', 'body'] as const).map((field) => upperBoundIn(field, query)))
}

/**
 * Whether the index counts at least every occurrence of a term, and all occurrences together make its tier. The term
 * must have one reading, and each of its words one name in all blocks. Outside English this is not certain: where
 * accents are usual, the spellings of a word have different stems, and the occurrences are divided among them.
 */
export function isBoundable({ alternatives }: Term, languages: readonly string[]): boolean {
  const [steps, ...others] = alternatives
  if (steps === undefined || others.length > 0) return false
  if (!languages.every((language) => language === 'en' || language === 'simple')) return false
  return steps.every(({ lexemes, prefix }) => {
    if (prefix || lexemes.length > scoredForms) return false
    const stems = lexemes.filter((lexeme) => unmarked(lexeme) !== lexeme)
    const alwaysStemmed = stems.length > 0 && !languages.includes('simple')
    return new Set((alwaysStemmed ? stems : lexemes).map(unmarked)).size === 1
  })
}

function upperBoundIn(field: Field, { weights, averageLength, cut: { byTerm, byPair } }: CutQuery): number {
  // Every title that matches is in the cut: it contains two of the terms, and each is in the tiers up to `titleTiers`.
  if (field === 'title' && byPair !== null && byPair <= titleTiers) return 0
  const most = (tier: Tier | null) => {
    if (tier === 0 || (field === 'title' && tier !== null && tier <= titleTiers)) return 0
    return impactOutside(tierThresholds[(tier ?? 0) - 1] ?? Number.POSITIVE_INFINITY, { field, averageLength })
  }
  const scores = weights.map((weight, index) => weight * most(byTerm[index] ?? null))
  if (byPair === null) return sumOf(scores)
  // In a match outside the cut, at most one term reaches the tier of pairs.
  const outsidePairs = weights.map((weight, index) => Math.min(scores[index] ?? 0, weight * most(byPair)))
  return sumOf(outsidePairs) + Math.max(...scores.map((score, index) => score - (outsidePairs[index] ?? 0)))
}

function inTier({ alternatives }: Term, tier: Tier): string {
  return `(${alternatives.map((steps) => stepsInTier(steps, tier)).join(' | ')})`
}

// A phrase reaches the impact of a tier only where each of its words does.
function stepsInTier(steps: readonly Step[], tier: Tier): string {
  const words = steps.map(({ lexemes, prefix }) => {
    const names = new Set(lexemes.map((lexeme) => tierLexeme(tier, lexeme)))
    return `(${[...names].map((name) => `${quoteLexeme(name)}${prefix ? ':*' : ''}`).join(' | ')})`
  })
  return `(${words.join(' & ')})`
}
