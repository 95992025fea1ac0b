import { impactBelow, tierThresholds } from './bm25.ts'
import type { Frequencies } from './frequencies.ts'
import { quoteLexeme, tierLexeme, unmarked } from './lexemes.ts'
import type { Step, Term, TermQuery } from './query.ts'
import { maxForms } from './score.ts'

/** How much of the matches ranking looks at: 0 is all of them, 1 (widest) to 4 those in which a term has that impact. */
export type Rung = 0 | 1 | 2 | 3 | 4

/** The narrowest rung. */
export const lastRung: Rung = 4

/**
 * The part of matches that lies on a rung, as `::tsquery`; null where no term has tiers. Quoted phrases as they are
 * written are on every rung, since they come first.
 */
export function tierCondition(terms: readonly (Term & TermQuery)[], rung: Rung): string | null {
  if (rung === 0) return null
  const alternatives = terms.flatMap((term) => [
    ...term.alternatives.map((steps) => stepsOn(steps, rung)),
    ...(term.verbatim === null ? [] : [`(${term.verbatim})`]),
  ])
  return alternatives.length === 0 ? null : alternatives.join(' | ')
}

/**
 * Where to start: with all matches when they are few, else on the widest rung with a bounded number of candidates.
 * `required` of the terms must match; words are taken as independent of each other.
 */
export function firstRung(input: {
  terms: readonly Term[]
  required: number
  frequencies: Frequencies
  share: number
}): Rung {
  const { terms, required, frequencies } = input
  const blocks = frequencies.blocks * input.share
  const shares = terms.map((term) => termShare(term, frequencies))
  const kind = terms.length === 1 ? 'single' : required === terms.length ? 'all' : 'relaxed'
  const { few, most } = bounds[kind]
  if (blocks * atLeast(required, shares) <= few) return 0
  for (const rung of [1, 2, 3] as const) {
    const estimate = terms.reduce((sum, term, index) => {
      const others = atLeast(required - 1, shares.toSpliced(index, 1))
      return sum + tierShare(term, { rung, frequencies }) * others
    }, 0)
    if (blocks * estimate <= most) return rung
  }
  return lastRung
}

/** The estimated share of blocks that contain a term; null when it is too rare to be known. */
export function knownShare(term: Term, { shares }: Frequencies): number | null {
  const [steps, ...others] = term.alternatives
  const [step, ...further] = steps ?? []
  if (step === undefined || others.length > 0 || further.length > 0 || step.prefix) return null
  const known = step.lexemes.map((lexeme) => shares.get(lexeme) ?? 0)
  const share = Math.max(...known)
  return share === 0 ? null : share
}

/**
 * The most that a match can score which is on none of the rungs from `rung` on; `weights` are the rarities of the terms.
 * Infinite where a word stands under several names, so that its occurrences are divided among them.
 */
export function unseenScore(input: {
  terms: readonly Term[]
  weights: readonly number[]
  languages: readonly string[]
  averageLength: number
  rung: Rung
}): number {
  if (input.rung === 0) return 0
  if (!input.terms.every((term) => isPlain(term, input.languages))) return Number.POSITIVE_INFINITY
  const threshold = tierThresholds[input.rung - 1] ?? Number.POSITIVE_INFINITY
  const most = impactBelow(threshold, input.averageLength)
  return input.weights.reduce((sum, weight) => sum + weight * most, 0)
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

// Up to `few` matches all are candidates, of more the widest rung with at most so many. Of words that must all match the
// tiers may hold too few, which costs another search; of those that need not, the index itself is slow on wide rungs.
const bounds = {
  single: { few: 1000, most: 1500 },
  all: { few: 2000, most: 1000 },
  relaxed: { few: 1000, most: 400 },
} as const

// A phrase has the impact of a tier only where each of its words has.
function stepsOn(steps: readonly Step[], rung: Rung): string {
  const words = steps.map(({ lexemes, prefix }) => {
    const names = new Set(lexemes.map((lexeme) => tierLexeme(rung, lexeme)))
    return `(${[...names].map((name) => `${quoteLexeme(name)}${prefix ? ':*' : ''}`).join(' | ')})`
  })
  return `(${words.join(' & ')})`
}

function termShare(term: Term, frequencies: Frequencies): number {
  return Math.max(0, ...term.alternatives.map((steps) => stepsShare(steps, frequencies)))
}

function tierShare(term: Term, { rung, frequencies }: { rung: Rung; frequencies: Frequencies }): number {
  const onTier = term.alternatives.map((steps) =>
    steps.map((step) => ({ ...step, lexemes: step.lexemes.map((lexeme) => tierLexeme(rung, lexeme)) })),
  )
  return Math.max(0, ...onTier.map((steps) => stepsShare(steps, frequencies)))
}

// Most words that the statistics do not name are far rarer than the rarest that they do.
const unnamed = 0.1

function stepsShare(steps: readonly Step[], { shares, rare }: Frequencies): number {
  const shareOf = (lexeme: string) => shares.get(lexeme) ?? rare * unnamed
  return Math.min(1, ...steps.map(({ lexemes }) => Math.max(...lexemes.map(shareOf))))
}

/** The chance that at least so many of independent things happen, bounded above by the sum over their combinations. */
function atLeast(count: number, shares: readonly number[]): number {
  const sums = [1, ...Array.from({ length: Math.max(0, count) }, () => 0)]
  for (const share of shares) {
    for (let size = sums.length - 1; size > 0; size -= 1) sums[size] = (sums[size] ?? 0) + (sums[size - 1] ?? 0) * share
  }
  return Math.min(1, sums[Math.max(0, count)] ?? 0)
}
