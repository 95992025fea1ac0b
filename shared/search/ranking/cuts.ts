import { type Step, type Term, type TermQuery, twoOf } from '../matching/query.ts'
import { maxForms } from '../statement/plan.ts'
import { quoteLexeme, tierLexeme, unmarked } from '../text/lexemes.ts'
import { type fieldWeights, impactBelow, tierThresholds, titleTiers } from './bm25.ts'
import { isAll, type Level, type Rung } from './level.ts'
import { sumOf } from './selectivity.ts'

/**
 * The part of matches that lies on a level, as `::tsquery`; null where it is all of them. Quoted phrases as they are
 * written are on every level, since they come first.
 */
export function levelCondition(terms: readonly (Term & TermQuery)[], level: Level): string | null {
  if (isAll(level)) return null
  const { alone, paired } = level
  const alternatives = terms.flatMap((term, index) => {
    const rung = alone[index] ?? null
    if (rung === 0) return [`(${term.tsquery})`]
    const verbatim = term.verbatim === null ? [] : [`(${term.verbatim})`]
    return rung === null ? verbatim : [onRung(term, rung), ...verbatim]
  })
  if (paired !== null) {
    const others = terms.filter((_, index) => alone[index] !== 0)
    if (others.length > 1) {
      alternatives.push(twoOf(others.map((term) => ({ tsquery: onRung(term, paired) }))))
    }
  }
  return alternatives.join(' | ')
}

type Unseen = {
  terms: readonly Term[]
  /** The rarities of the terms. */
  weights: readonly number[]
  languages: readonly string[]
  averageLength: number
  level: Level
}

/**
 * The most that a match can score which is not on a level. Infinite where a word stands under several names, so that its
 * occurrences are divided among them.
 */
export function unseenScore(input: Unseen): number {
  if (isAll(input.level)) return 0
  if (!input.terms.every((term) => isPlain(term, input.languages))) return Number.POSITIVE_INFINITY
  return Math.max(...(['title', 'heading', 'body'] as const).map((field) => unseenIn(field, input)))
}

function unseenIn(
  field: keyof typeof fieldWeights,
  { weights, averageLength, level: { alone, paired } }: Unseen,
): number {
  // A match has two of the words, and of a title they are on the rung.
  if (field === 'title' && paired !== null && paired <= titleTiers) return 0
  const most = (rung: Rung | null) => {
    if (rung === 0 || (field === 'title' && rung !== null && rung <= titleTiers)) return 0
    return impactBelow(tierThresholds[(rung ?? 0) - 1] ?? Number.POSITIVE_INFINITY, { field, averageLength })
  }
  const scores = weights.map((weight, index) => weight * most(alone[index] ?? null))
  if (paired === null) return sumOf(scores)
  // One word at most has as much as a word of a pair.
  const beside = weights.map((weight, index) => Math.min(scores[index] ?? 0, weight * most(paired)))
  return sumOf(beside) + Math.max(...scores.map((score, index) => score - (beside[index] ?? 0)))
}

/**
 * Whether SQL counts at least every occurrence of a term, and all of them make its tier. It must have one reading, and
 * each of its words one name in all blocks. Where accents are usual, stems of one word differ between its spellings.
 */
export function isPlain({ alternatives }: Term, languages: readonly string[]): boolean {
  const [steps, ...others] = alternatives
  if (steps === undefined || others.length > 0) return false
  if (!languages.every((language) => language === 'en' || language === 'simple')) return false
  return steps.every(({ lexemes, prefix }) => {
    if (prefix || lexemes.length > maxForms) return false
    const stems = lexemes.filter((lexeme) => unmarked(lexeme) !== lexeme)
    const alwaysStemmed = stems.length > 0 && !languages.includes('simple')
    return new Set((alwaysStemmed ? stems : lexemes).map(unmarked)).size === 1
  })
}

function onRung({ alternatives }: Term, rung: Rung): string {
  return `(${alternatives.map((steps) => stepsOn(steps, rung)).join(' | ')})`
}

// A phrase has the impact of a tier only where each of its words has.
function stepsOn(steps: readonly Step[], rung: Rung): string {
  const words = steps.map(({ lexemes, prefix }) => {
    const names = new Set(lexemes.map((lexeme) => tierLexeme(rung, lexeme)))
    return `(${[...names].map((name) => `${quoteLexeme(name)}${prefix ? ':*' : ''}`).join(' | ')})`
  })
  return `(${words.join(' & ')})`
}
