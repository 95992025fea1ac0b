/**
 * A pure function that may take long, declared so that a thread can run it: the thread imports `module` and calls what
 * that exports under `name`. Input and output are plain data, since they are copied from thread to thread.
 */
export type Computation<Input, Output> = {
  /** The address of the module, `import.meta.url`. */
  module: string
  /** The name under which the module exports `run`; that of the function. */
  name: string
  run: (input: Input) => Output
  /** Whether this input certainly takes less than 20 ms, and so no thread. */
  isSmall: (input: Input) => boolean
  /** How many milliseconds of a processor this input may take. */
  cpuMs: (input: Input) => number
}

/** Declares a computation; its function must be an export of the module, under its own name. */
export function computation<Input, Output>(
  declared: Omit<Computation<Input, Output>, 'name'>,
): Computation<Input, Output> {
  return { ...declared, name: declared.run.name }
}

/** The same computation with a limit of so many milliseconds of a processor, where its own is higher. */
export function limited<Input, Output>(
  declared: Computation<Input, Output>,
  mostMs: number,
): Computation<Input, Output> {
  return { ...declared, cpuMs: (input) => Math.min(declared.cpuMs(input), mostMs) }
}

/** The end of a computation that took more processor time or memory than it may; the same input would end so again. */
export class ComputationLimitError extends Error {
  override readonly name = 'ComputationLimitError'
  readonly limit: 'time' | 'memory'

  constructor(limit: 'time' | 'memory') {
    super(`the computation takes too much ${limit}`)
    this.limit = limit
  }
}
