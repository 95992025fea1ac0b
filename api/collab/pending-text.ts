/** The pauses after which typed text is stored, in milliseconds: without further typing, and at most. */
export type FlushPauses = { debounceMs: number; maxDebounceMs: number }

type TypedUpdate = { update: Uint8Array; userId: string }

/**
 * The updates of one document that no commit has stored yet, in the order of their arrival. A flush takes all of them,
 * and they stay here until the flush has stored them or has failed.
 */
export class PendingText {
  readonly #onBytes: (change: number, userId: string) => void
  #updates: TypedUpdate[] = []
  #bytes = 0
  /** How many of the updates a flush has taken. */
  #taken = 0
  #firstAt = 0
  #lastAt = 0

  /** `onBytes` is told by how many bytes the text of a user has grown; a negative number when text is forgotten. */
  constructor(onBytes: (change: number, userId: string) => void) {
    this.#onBytes = onBytes
  }

  get isEmpty(): boolean {
    return this.#updates.length === 0
  }

  /** All updates, including those that a flush has taken. */
  get updates(): readonly Uint8Array[] {
    return this.#updates.map(({ update }) => update)
  }

  /** The bytes of all updates, including those that a flush has taken. */
  get bytes(): number {
    return this.#bytes
  }

  /** Adds an update that a user has typed; the id is empty when nobody is known. */
  add(update: Uint8Array, userId: string): void {
    this.#lastAt = performance.now()
    if (this.#updates.length === this.#taken) this.#firstAt = this.#lastAt
    this.#updates.push({ update, userId })
    this.#count(update.byteLength, userId)
  }

  /** When the updates have to be stored, in milliseconds of `performance.now()`. */
  dueAt({ debounceMs, maxDebounceMs }: FlushPauses): number {
    return Math.min(this.#lastAt + debounceMs, this.#firstAt + maxDebounceMs)
  }

  /** Takes all updates for a flush. */
  take(): readonly Uint8Array[] {
    this.#taken = this.#updates.length
    return this.updates
  }

  /** Forgets the updates that the flush has taken and stored. */
  stored(): void {
    this.#forget(this.#updates.splice(0, this.#taken))
  }

  /** Forgets all updates. */
  clear(): void {
    this.#forget(this.#updates.splice(0))
  }

  #forget(updates: readonly TypedUpdate[]): void {
    this.#taken = 0
    for (const { update, userId } of updates) this.#count(-update.byteLength, userId)
  }

  #count(bytes: number, userId: string): void {
    this.#bytes += bytes
    this.#onBytes(bytes, userId)
  }
}
