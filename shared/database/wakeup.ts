/**
 * Runs a piece of work when woken, never twice at once; a wake-up during a run leads to one more run. The work has to end
 * by itself: every statement of it has a time limit. What it throws is told to `onError`, and it is tried again a second
 * later.
 */
export class Wakeup {
  readonly #work: () => Promise<void>
  readonly #onError: (error: unknown) => void
  #running: Promise<void> | undefined
  #retry: NodeJS.Timeout | undefined
  #again = false
  #closed = false

  constructor(work: () => Promise<void>, onError: (error: unknown) => void) {
    this.#work = work
    this.#onError = onError
  }

  /** Asks for a run that begins from now on. */
  wake(): void {
    if (this.#closed) return
    this.#again = true
    this.#running ??= this.#run()
  }

  /** Resolves when nothing runs any more; nothing is begun from now on. */
  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#retry)
    await this.#running
  }

  async #run(): Promise<void> {
    try {
      while (this.#again && !this.#closed) {
        this.#again = false
        await this.#work()
      }
    } catch (error) {
      this.#onError(error)
      clearTimeout(this.#retry)
      this.#retry = setTimeout(() => this.wake(), retryMs)
    } finally {
      this.#running = undefined
    }
  }
}

const retryMs = 1000
