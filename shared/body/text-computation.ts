import { type Computation, computation } from '../computations/computation.ts'

/** A stored body, one top-level block a line, and what else a computation on it needs. */
type OfText = { text: string }

/** Bodies of this many characters are rendered within 10 ms in the forms of the API. */
const smallText = 32 * 1024

/**
 * Declares a computation on a stored body: inline for a small body, otherwise in a thread. Even the slowest form of an
 * ordinary body takes 0.2 µs a character, so that only a hostile one comes near the limit of ten seconds. `smallLength`
 * is how many characters a small body has at most, where that differs.
 */
export function textComputation<Input extends OfText, Output>({
  smallLength = smallText,
  ...declared
}: Pick<Computation<Input, Output>, 'module' | 'run'> & { smallLength?: number }): Computation<Input, Output> {
  return computation({
    ...declared,
    isSmall: ({ text }) => text.length <= smallLength,
    cpuMs: ({ text }) => Math.min(10_000, 2000 + text.length * 0.005),
  })
}
