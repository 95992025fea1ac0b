import type { WireEvent } from './wire.ts'

/** The latest events of the log, so many at most: what streams that are almost up to date are served from. */
export class RecentEvents {
  readonly #capacity: number
  #events: WireEvent[] = []
  #after: number
  #newest: number

  /** Holds everything that comes after the id `after`, until it is full. */
  constructor(options: { after: number; capacity: number }) {
    this.#capacity = options.capacity
    this.#after = options.after
    this.#newest = options.after
  }

  /** The id up to which the log has been read. */
  get newest(): number {
    return this.#newest
  }

  /** Adds what follows; the oldest gives way. */
  add(events: readonly WireEvent[]): void {
    this.#events.push(...events)
    this.#newest = events.at(-1)?.id ?? this.#newest
    const surplus = this.#events.length - this.#capacity
    if (surplus > 0) this.#after = this.#events.splice(0, surplus).at(-1)?.id ?? this.#after
  }

  /** At most `limit` events after an id, or null when some of them are not held any more. */
  after(id: number, limit: number): readonly WireEvent[] | null {
    if (id < this.#after) return null
    const start = this.#events.findIndex((event) => event.id > id)
    return start < 0 ? [] : this.#events.slice(start, start + limit)
  }
}
