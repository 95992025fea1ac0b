import { setTimeout as sleep } from 'node:timers/promises'

// The pause after a failed operation, in milliseconds: doubled with each failure, up to the longest.
const firstRetryMs = 500
const longestRetryMs = 15_000
// The pause after new text is typed into a document whose commit was refused: the text may be what was missing.
const refusedRetryMs = 1000

type Options = {
  /** When an operation is due, in milliseconds of `performance.now()`. */
  dueAt: () => number
  /** Runs one operation. The schedule is told of a failure by a rejection. */
  operate: () => Promise<void>
  /** Is told of a failure. Returns whether the database has refused the operation for what the document holds. */
  onFailure: (error: unknown) => { isRefusal: boolean }
  /** Called after each operation. */
  onEnd: () => void
}

/**
 * Runs the operations of one document one after the other, each when it is due. After a failure the next operation
 * waits, longer with each failure.
 */
export class OperationSchedule {
  readonly #options: Options
  #running: Promise<void> | null = null
  #timer: NodeJS.Timeout | undefined
  #failures = 0
  #wasRefused = false
  /** When the operation began that was refused last. */
  #refusedAt = Number.NEGATIVE_INFINITY
  #notBefore = Number.NEGATIVE_INFINITY
  #isStopped = false

  constructor(options: Options) {
    this.#options = options
  }

  /** How many operations have failed since the last success. */
  get failures(): number {
    return this.#failures
  }

  /** Whether an operation was refused that has begun at or after a time of `performance.now()`. */
  wasRefusedSince(time: number): boolean {
    return this.#refusedAt >= time
  }

  /** To be called when an operation may be due earlier than before. */
  wake(): void {
    clearTimeout(this.#timer)
    if (this.#isStopped || this.#running !== null) return
    const wait = Math.max(this.#options.dueAt(), this.#notBefore) - performance.now()
    if (wait > 0) this.#timer = setTimeout(() => this.#run(), wait)
    else this.#run()
  }

  /** To be called when text was typed: after a refusal the pause need not be long then. */
  wakeTyped(): void {
    if (this.#wasRefused) this.#retryWithin(refusedRetryMs)
    this.wake()
  }

  /** Resolves when the operation that is due now has ended, or after a failure when the next may be tried. */
  async round(signal: AbortSignal): Promise<void> {
    this.#retryWithin(firstRetryMs)
    this.wake()
    await Promise.race([this.#running ?? sleep(firstRetryMs, undefined, { signal }), aborted(signal)]).catch(() => {})
  }

  /** Starts no further operation. */
  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
  }

  #run(): void {
    this.#running = this.#operate().finally(() => {
      this.#running = null
      this.#options.onEnd()
      this.wake()
    })
  }

  async #operate(): Promise<void> {
    const began = performance.now()
    try {
      await this.#options.operate()
      this.#failures = 0
      this.#wasRefused = false
    } catch (error) {
      this.#failures += 1
      this.#wasRefused = this.#options.onFailure(error).isRefusal
      if (this.#wasRefused) this.#refusedAt = began
      const wait = Math.min(firstRetryMs * 2 ** (this.#failures - 1), longestRetryMs)
      this.#notBefore = performance.now() + wait * (0.75 + Math.random() / 2)
    }
  }

  #retryWithin(milliseconds: number): void {
    this.#notBefore = Math.min(this.#notBefore, performance.now() + milliseconds)
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
