import { impactBelow, tierThresholds } from './bm25.ts'
import { quoteLexeme, tierLexeme, unmarked } from './lexemes.ts'
import { maxForms } from './plan.ts'
import type { Step, Term, TermQuery } from './query.ts'

/** Which blocks with a term ranking looks at: 0 all of them, 1 (widest) to 4 those in which it is on a tier. */
export type Rung = 0 | 1 | 2 | 3 | 4

/** Which matches ranking looks at: those on the rung of one of the terms. */
export type Level = readonly Rung[]

/**
 * The part of matches that lies on a level, as `::tsquery`; null where it is all of them. Quoted phrases as they are
 * written are on every level, since they come first.
 */
export function levelCondition(terms: readonly (Term & TermQuery)[], level: Level): string | null {
  if (isAll(level)) return null
  const alternatives = terms.flatMap((term, index) => {
    const rung = level[index] ?? 0
    if (rung === 0) return [`(${term.tsquery})`]
    const verbatim = term.verbatim === null ? [] : [`(${term.verbatim})`]
    return [...term.alternatives.map((steps) => stepsOn(steps, rung)), ...verbatim]
  })
  return alternatives.join(' | ')
}

/** Whether a level is that of all matches. */
export function isAll(level: Level): boolean {
  return level.every((rung) => rung === 0)
}

/**
 * The most that a match can score which is not on a level; `weights` are the rarities of the terms. Infinite where a word
 * stands under several names, so that its occurrences are divided among them.
 */
export function unseenScore(input: {
  terms: readonly Term[]
  weights: readonly number[]
  languages: readonly string[]
  averageLength: number
  level: Level
}): number {
  const { terms, weights, languages, averageLength, level } = input
  if (isAll(level)) return 0
  if (!terms.every((term) => isPlain(term, languages))) return Number.POSITIVE_INFINITY
  return weights.reduce((sum, weight, index) => {
    const threshold = tierThresholds[(level[index] ?? 0) - 1]
    // Of a word on rung 0 every block is on the level.
    return threshold === undefined ? sum : sum + weight * impactBelow(threshold, averageLength)
  }, 0)
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

// A phrase has the impact of a tier only where each of its words has.
function stepsOn(steps: readonly Step[], rung: Rung): string {
  const words = steps.map(({ lexemes, prefix }) => {
    const names = new Set(lexemes.map((lexeme) => tierLexeme(rung, lexeme)))
    return `(${[...names].map((name) => `${quoteLexeme(name)}${prefix ? ':*' : ''}`).join(' | ')})`
  })
  return `(${words.join(' & ')})`
}
