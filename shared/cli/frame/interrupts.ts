import { exitCodes } from './failures.ts'

/** What Ctrl-C does to a command: it removes what the command has half made, and ends with exit code 130. */
export class Interrupts {
  readonly #cleanups = new Set<() => Promise<void>>()
  readonly #controller = new AbortController()
  #held = false

  /** Is aborted when the person interrupts the command. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Begins to listen to the signals that end a process. `last` runs before the process ends. */
  watch(last: () => void): void {
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => void this.#interrupted(last))
  }

  /** Has `cleanup` run when the command is interrupted. The returned function takes that back. */
  onInterrupt(cleanup: () => Promise<void>): () => void {
    this.#cleanups.add(cleanup)
    return () => void this.#cleanups.delete(cleanup)
  }

  /**
   * Ignores interruptions while another program has the terminal: Ctrl-C in an editor reaches the editor as well. Other
   * signals to this process are ignored, too, since the file of the editor has to stay until the editor ends.
   */
  async held<T>(work: () => Promise<T>): Promise<T> {
    this.#held = true
    try {
      return await work()
    } finally {
      this.#held = false
    }
  }

  // The second signal does not wait for what the first one has begun.
  async #interrupted(last: () => void): Promise<void> {
    if (this.#held) return
    if (!this.signal.aborted) {
      this.#controller.abort()
      await Promise.allSettled([...this.#cleanups].map((cleanup) => cleanup()))
      last()
    }
    process.exit(exitCodes.interrupted)
  }
}
