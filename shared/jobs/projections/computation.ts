import { type Computation, computation } from '../../computations/computation.ts'
import type { DocumentJob } from '../queues.ts'

/** The source of one document and the job that derives it: the input of the computation of a projection. */
export type ProjectionInput<Source> = { source: Source; job: DocumentJob }

/** The computation of the result of one document. */
export type ProjectionComputation<Source, Result> = Computation<ProjectionInput<Source>, Result>

/** The characters up to which a text is small, so that its computation needs no thread. */
export const smallLength = 32 * 1024

/**
 * Declares the computation of a projection, which a thread runs for a long text. The thread imports `module`, the
 * `import.meta.url` of the caller, and calls its export `run` by name. `length` counts the characters that `run` reads.
 */
export function projectionComputation<Source, Result>(declared: {
  module: string
  run: (input: ProjectionInput<Source>) => Result
  length: (source: Source) => number
}): ProjectionComputation<Source, Result> {
  const { module, run, length } = declared
  return computation({
    module,
    run,
    isSmall: ({ source }) => length(source) <= smallLength,
    // Ordinary text takes 0.3 µs a character. The limit of 2 s and 20 µs a character keeps a hostile text from
    // occupying a thread for long.
    cpuMs: ({ source }) => 2000 + length(source) * 0.02,
  })
}
