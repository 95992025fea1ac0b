import type { Frequencies } from './frequencies.ts'
import { tierLexeme } from './lexemes.ts'
import type { Step, Term } from './query.ts'

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

/** The share of blocks in which a term has the impact of a tier. */
export function tierShare(term: Term, { tier, frequencies }: { tier: number; frequencies: Frequencies }): number {
  const onTier = term.alternatives.map((steps) =>
    steps.map((step) => ({ ...step, lexemes: step.lexemes.map((lexeme) => tierLexeme(tier, lexeme)) })),
  )
  return Math.max(0, ...onTier.map((steps) => stepsShare(steps, frequencies)))
}

// Most words that the statistics do not name are far rarer than the rarest that they do.
const unnamed = 0.1

function stepsShare(steps: readonly Step[], { shares, rare }: Frequencies): number {
  const shareOf = (lexeme: string) => shares.get(lexeme) ?? rare * unnamed
  return Math.min(1, ...steps.map(({ lexemes }) => Math.max(...lexemes.map(shareOf))))
}
