import { type Computation, computation } from '../computations/computation.ts'
import { linesToDocument } from './canonical.ts'
import type { DocNode } from './document.ts'

/**
 * A stored body: canonical text, one top-level block a line. Lines and nodes are made when a caller first asks for
 * them.
 */
export class StoredBody {
  readonly version: string
  readonly text: string
  #lines: readonly string[] | undefined
  #document: DocNode | undefined

  constructor(stored: { version: string; text: string }) {
    this.version = stored.version
    this.text = stored.text
  }

  /** The top-level blocks as canonical JSON. */
  get lines(): readonly string[] {
    this.#lines ??= this.text.split('\n')
    return this.#lines
  }

  /** The whole body parsed. The caller must not change the nodes. */
  get document(): DocNode {
    this.#document ??= linesToDocument(this.lines)
    return this.#document
  }
}

/** An input of a computation that has a stored body, one top-level block a line. */
type OfText = { text: string }

/** The most characters of a small body, which is rendered within 10 ms in each form of the API. */
const smallText = 32 * 1024

/** The declaration of a computation on stored bodies: `smallLength` replaces the default length of small bodies. */
type OnBodies<Input, Output> = Pick<Computation<Input, Output>, 'module' | 'run'> & { smallLength?: number }

/** Declares a computation on a stored body, which needs a thread unless the body is small. */
export function textComputation<Input extends OfText, Output>(
  declared: OnBodies<Input, Output>,
): Computation<Input, Output> {
  return bodiesComputation({ ...declared, lengthOf: ({ text }) => text.length })
}

/**
 * Declares a computation on one or more stored bodies, whose length in characters is `lengthOf`. The computation needs
 * a thread unless the bodies together are small. The slowest form of an ordinary body takes 0.2 µs a character. So only
 * a hostile body comes near the limit of ten seconds of processor time.
 */
export function bodiesComputation<Input, Output>({
  lengthOf,
  smallLength = smallText,
  ...declared
}: OnBodies<Input, Output> & { lengthOf: (input: Input) => number }): Computation<Input, Output> {
  return computation({
    ...declared,
    isSmall: (input) => lengthOf(input) <= smallLength,
    cpuMs: (input) => Math.min(10_000, 2000 + lengthOf(input) * 0.005),
  })
}
