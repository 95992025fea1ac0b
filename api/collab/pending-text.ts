/** The pauses after which typed text is stored, in milliseconds: without further typing, and at most. */
export type FlushPauses = { debounceMs: number; maxDebounceMs: number }

/**
 * The updates of one document that no commit has stored yet, in the order of their arrival. A flush takes all of them,
 * and they stay here until the flush has stored them or has failed.
 */
export class PendingText {
  readonly #onBytes: (change: number) => void
  #updates: Uint8Array[] = []
  #bytes = 0
  /** How many of the updates a flush has taken. */
  #taken = 0
  #firstAt = 0
  #lastAt = 0

  /** `onBytes` is told by how many bytes the text has grown; a negative number when text is forgotten. */
  constructor(onBytes: (change: number) => void) {
    this.#onBytes = onBytes
  }

  get isEmpty(): boolean {
    return this.#updates.length === 0
  }

  /** All updates, including those that a flush has taken. */
  get updates(): readonly Uint8Array[] {
    return this.#updates
  }

  /** The bytes of all updates, including those that a flush has taken. */
  get bytes(): number {
    return this.#bytes
  }

  add(update: Uint8Array): void {
    this.#lastAt = performance.now()
    if (this.#updates.length === this.#taken) this.#firstAt = this.#lastAt
    this.#updates.push(update)
    this.#count(update.byteLength)
  }

  /** When the updates have to be stored, in milliseconds of `performance.now()`. */
  dueAt({ debounceMs, maxDebounceMs }: FlushPauses): number {
    return Math.min(this.#lastAt + debounceMs, this.#firstAt + maxDebounceMs)
  }

  /** Takes all updates for a flush. */
  take(): readonly Uint8Array[] {
    this.#taken = this.#updates.length
    return this.#updates.slice()
  }

  /** Forgets the updates that the flush has taken and stored. */
  stored(): void {
    const stored = this.#updates.splice(0, this.#taken)
    this.#taken = 0
    this.#count(-stored.reduce((sum, { byteLength }) => sum + byteLength, 0))
  }

  /** Forgets all updates. */
  clear(): void {
    this.#updates = []
    this.#taken = 0
    this.#count(-this.#bytes)
  }

  #count(bytes: number): void {
    this.#bytes += bytes
    this.#onBytes(bytes)
  }
}
