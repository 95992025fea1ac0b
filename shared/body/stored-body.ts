import { type Computation, computation } from '../computations/computation.ts'
import { linesToDocument } from './canonical.ts'
import type { DocNode } from './document.ts'

/** A body as it is stored: canonical text, one top-level block a line. Lines and nodes are made when they are asked for. */
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

  /** The whole body parsed; the caller must not change it. */
  get document(): DocNode {
    this.#document ??= linesToDocument(this.lines)
    return this.#document
  }
}

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
