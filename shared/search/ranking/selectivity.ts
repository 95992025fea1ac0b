import type { Step, Term } from '../matching/query.ts'
import { tierLexeme } from '../text/lexemes.ts'
import type { Frequencies } from './frequencies.ts'
import type { Rung } from './level.ts'

/** The estimated share of blocks that contain a term; null when it is too rare to be known. */
export function knownShare(term: Term, { shares }: Frequencies): number | null {
  const [steps, ...others] = term.alternatives
  const [step, ...further] = steps ?? []
  if (step === undefined || others.length > 0 || further.length > 0 || step.prefix) return null
  const known = step.lexemes.map((lexeme) => shares.get(lexeme) ?? 0)
  const share = Math.max(...known)
  return share === 0 ? null : share
}

/** The share of blocks that contain a term, likely too high where statistics do not name it. */
export function termShare(term: Term, frequencies: Frequencies): number {
  return Math.max(0, ...term.alternatives.map((steps) => stepsShare(steps, frequencies)))
}

/** The share of blocks in which a term has the impact of a tier; where statistics do not name it, what is usual. */
function tierShare(term: Term, { tier, frequencies }: { tier: number; frequencies: Frequencies }): number {
  const usual = usualParts[tier - 1] ?? 0
  const onTier = term.alternatives.map((steps) =>
    Math.min(1, ...steps.map(({ lexemes }) => stepShare(lexemes, { tier, usual, frequencies }))),
  )
  return Math.max(0, ...onTier)
}

/** The share of blocks in which a term is on a rung; `share` are those that contain it. */
export function shareOn(rung: Rung, of: { term: Term; share: number; frequencies: Frequencies }): number {
  const { term, share, frequencies } = of
  return rung === 0 ? share : Math.min(share, tierShare(term, { tier: rung, frequencies }))
}

/** The share of blocks with every one of the terms, one of them on its rung, taken as independent of each other. */
export function shareOfAll(onRungs: readonly number[], shares: readonly number[]): number {
  const all = shares.reduce((product, share) => product * share, 1)
  const onOne = sumOf(onRungs.map((onRung, index) => onRung / (shares[index] || 1)))
  return all * Math.min(1, onOne)
}

/** The share of blocks with at least two of the words whose shares these are, or more; taken as independent. */
export function pairShare(shares: readonly number[]): number {
  return shares.reduce((sum, share, index) => sum + share * sumOf(shares.slice(index + 1)), 0)
}

/** Adds up numbers; 0 for none. */
export function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0)
}

// Of the blocks with a common word; of rarer ones the part that is in titles and headings may be many times that.
const usualParts = [0.12, 0.04, 0.015, 0.006] as const

function stepShare(
  lexemes: readonly string[],
  { tier, usual, frequencies }: { tier: number; usual: number; frequencies: Frequencies },
): number {
  const { shares, rare } = frequencies
  const onTier = lexemes.map((lexeme) => {
    const share = shares.get(lexeme) ?? rare * unnamed
    return shares.get(tierLexeme(tier, lexeme)) ?? Math.min(rare, share * usual)
  })
  return Math.max(...onTier)
}

// Most words that the statistics do not name are far rarer than the rarest that they do.
const unnamed = 0.1

function stepsShare(steps: readonly Step[], { shares, rare }: Frequencies): number {
  const shareOf = (lexeme: string) => shares.get(lexeme) ?? rare * unnamed
  return Math.min(1, ...steps.map(({ lexemes }) => Math.max(...lexemes.map(shareOf))))
}
