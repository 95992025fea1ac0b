import { anyTwoOf, type TermQuery } from '../matching/query.ts'
import type { Step, Term } from '../matching/term.ts'
import { quoteLexeme, tierLexeme, unmarked } from '../text/lexemes.ts'
import { type Field, impactOutside, type Tier } from './bm25.ts'
import { sumOf } from './selectivity.ts'
import { scoredForms, tierThresholds, titleTiers } from './tuning.ts'

/**
 * A subset of the matches of a query, which ranking reads in one pass. It is all matches, or only the matches in which
 * some term has a high impact.
 */
export type Cut = {
  /**
   * For each term the tier that suffices: a match in which the term reaches it is in the cut. Null where no tier
   * suffices.
   */
  byTerm: readonly (Tier | null)[]
  /**
   * The tier that suffices for two terms: a match in which any two terms reach it is in the cut. Null where no tier
   * suffices.
   */
  byPair: Tier | null
  /** Whether the index is asked only for the cut. The rows found are then checked for the terms of the query. */
  recheckTerms: boolean
  /** The estimated number of matches in the cut; null where it is unknown. */
  size: number | null
}

/** The cut that holds all matches. */
export function completeCut(terms: readonly unknown[]): Cut {
  return { byTerm: terms.map(() => 0), byPair: null, recheckTerms: false, size: null }
}

/** Whether a cut holds all matches. */
export function isComplete({ byTerm }: Cut): boolean {
  return byTerm.every((tier) => tier === 0)
}

/**
 * The `::tsquery` of the blocks of a cut; null for a cut of all matches. Every cut contains the blocks that rank first:
 * those in which a quoted phrase stands as it was written, or a word that is being typed stands as a whole.
 */
export function cutCondition(terms: readonly (Term & TermQuery)[], cut: Cut): string | null {
  if (isComplete(cut)) return null
  const { byTerm, byPair } = cut
  const alternatives = terms.flatMap((term, index) => {
    const tier = byTerm[index] ?? null
    if (tier === 0) return [`(${term.tsquery})`]
    const first = [term.verbatim, term.wholeWords]
      .filter((tsquery) => tsquery !== null)
      .map((tsquery) => `(${tsquery})`)
    return tier === null ? first : [inTier(term, tier), ...first]
  })
  if (byPair !== null) {
    const others = terms.filter((_, index) => byTerm[index] !== 0)
    if (others.length > 1) {
      alternatives.push(anyTwoOf(others.map((term) => ({ tsquery: inTier(term, byPair) }))))
    }
  }
  return alternatives.join(' | ')
}

/** The `::tsquery` of the blocks in which a term reaches a tier. */
export function inTier({ alternatives }: Term, tier: Tier): string {
  return `(${alternatives.map((steps) => stepsInTier(steps, tier)).join(' | ')})`
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
 * Whether `upperBound` is certain for a term. The index must not count fewer occurrences than there are, and all
 * occurrences of the term must add up to one tier. So the term must have one reading, and each of its words one name in
 * all blocks. Outside English this is not certain. Where accents are usual, the spellings of a word have different
 * stems, and the occurrences are divided among these stems.
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
  // Every title that matches is in the cut. The title contains two of the terms, and every word of a title is in all
  // tiers up to `titleTiers`.
  if (field === 'title' && byPair !== null && byPair <= titleTiers) return 0
  const most = (tier: Tier | null) => {
    if (tier === 0 || (field === 'title' && tier !== null && tier <= titleTiers)) return 0
    return impactOutside(tierThresholds[(tier ?? 0) - 1] ?? Number.POSITIVE_INFINITY, { field, averageLength })
  }
  const scores = weights.map((weight, index) => weight * most(byTerm[index] ?? null))
  if (byPair === null) return sumOf(scores)
  // In a match outside the cut, at most one term reaches the tier `byPair`.
  const outsidePairs = weights.map((weight, index) => Math.min(scores[index] ?? 0, weight * most(byPair)))
  return sumOf(outsidePairs) + Math.max(...scores.map((score, index) => score - (outsidePairs[index] ?? 0)))
}

// A phrase reaches the impact of a tier only where each of its words reaches the tier.
function stepsInTier(steps: readonly Step[], tier: Tier): string {
  const words = steps.map(({ lexemes, prefix }) => {
    const names = new Set(lexemes.map((lexeme) => tierLexeme(tier, lexeme)))
    return `(${[...names].map((name) => `${quoteLexeme(name)}${prefix ? ':*' : ''}`).join(' | ')})`
  })
  return `(${words.join(' & ')})`
}
