/** Runs a piece of work when signalled, never twice at once; a signal during a run leads to one more run. */
export class Wakeup {
  readonly #work: () => Promise<void>
  #running: Promise<void> | undefined
  #again = false

  constructor(work: () => Promise<void>) {
    this.#work = work
  }

  /** Resolves when the work is done that this signal asked for; rejects with what that work threw. */
  async signal(): Promise<void> {
    this.#again = true
    this.#running ??= this.#run()
    await this.#running
  }

  /** Resolves when nothing runs any more; whether that run failed has been told to whoever signalled. */
  async idle(): Promise<void> {
    await this.#running?.catch(() => {})
  }

  async #run(): Promise<void> {
    try {
      while (this.#again) {
        this.#again = false
        await this.#work()
      }
    } finally {
      this.#running = undefined
    }
  }
}
