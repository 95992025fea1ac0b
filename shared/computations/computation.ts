/**
 * A pure function that may take long, declared so that a thread can run it. The thread imports `module` and calls its
 * export `name`. Input and output are plain data, because they are copied between threads.
 */
export type Computation<Input, Output> = {
  /** The address of the module, `import.meta.url`. */
  module: string
  /** The name of `run`, under which the module exports it. */
  name: string
  run: (input: Input) => Output
  /** True if this input certainly takes less than 20 ms, so that it needs no thread. */
  isSmall: (input: Input) => boolean
  /** The milliseconds of processor time that this input may take. */
  cpuMs: (input: Input) => number
}

/** Declares a computation. The module must export the function under its own name. */
export function computation<Input, Output>(
  declared: Omit<Computation<Input, Output>, 'name'>,
): Computation<Input, Output> {
  return { ...declared, name: declared.run.name }
}

/**
 * Thrown when a computation exceeds its limit on processor time or memory. The same input would exceed the limit again.
 */
export class ComputationLimitError extends Error {
  override readonly name = 'ComputationLimitError'
  readonly limit: 'time' | 'memory'

  constructor(limit: 'time' | 'memory') {
    super(`the computation takes too much ${limit}`)
    this.limit = limit
  }
}
