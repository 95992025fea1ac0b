/**
 * The updates of one document that no commit has stored yet, in the order of their arrival. A flush takes all of them;
 * they stay here until it has stored them or has given them back.
 */
export class PendingText {
  #waiting: Uint8Array[] = []
  #taken: Uint8Array[] = []
  #bytes = 0
  #firstAt = 0
  #lastAt = 0

  get empty(): boolean {
    return this.#waiting.length === 0 && this.#taken.length === 0
  }

  /** The bytes of all updates, including those that a flush has taken. */
  get bytes(): number {
    return this.#bytes
  }

  add(update: Uint8Array): void {
    this.#lastAt = performance.now()
    if (this.#waiting.length === 0) this.#firstAt = this.#lastAt
    this.#waiting.push(update)
    this.#bytes += update.byteLength
  }

  /** When the updates have to be stored, in milliseconds of `performance.now()`. */
  dueAt({ debounceMs, maxDebounceMs }: { debounceMs: number; maxDebounceMs: number }): number {
    return Math.min(this.#lastAt + debounceMs, this.#firstAt + maxDebounceMs)
  }

  /** Takes all updates for a flush. */
  take(): readonly Uint8Array[] {
    this.#taken.push(...this.#waiting)
    this.#waiting = []
    return this.#taken
  }

  /** Forgets the updates that the flush has stored. */
  stored(): void {
    this.#taken = []
    this.#bytes = this.#waiting.reduce((sum, update) => sum + update.byteLength, 0)
  }

  /** Takes back the updates of a flush that has failed. */
  giveBack(): void {
    this.#waiting = [...this.#taken, ...this.#waiting]
    this.#taken = []
  }

  clear(): void {
    this.#waiting = []
    this.#taken = []
    this.#bytes = 0
  }
}
