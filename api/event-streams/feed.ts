import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../../shared/database/database.ts'
import { type Listener, listen, Wakeup } from '../../shared/database/listener.ts'
import { numberedChannel } from '../../shared/events/number.ts'
import { logExtent, numberedEvents } from '../../shared/events/queries.ts'
import { type WireEvent, wireEvent } from './wire.ts'

/**
 * The number of events that are read from the log, and written to a stream, at once. Such a page of events mostly has
 * less than 100 KB, and at most about 500 KB.
 */
export const pageSize = 200

// The number of events that are kept in memory. A busy service records 2000 events in a few minutes, and these events
// take a few megabytes.
const keptEvents = 2000

const longestPauseMs = 100

/** The event log as this process reads it. */
export type Feed = {
  readonly recent: RecentEvents
  /**
   * Makes the feed read new events. The caller calls this function at every heartbeat, in case a notification of
   * PostgreSQL was lost.
   */
  wake: () => void
  close: () => Promise<void>
}

/**
 * Reads the event log from its present end on. One connection listens, and each wake-up reads the new events in one
 * statement, however many streams are open. `deliver` gets the events in the order of their ids, after they have been
 * added to `recent`.
 */
export async function tailLog(options: {
  database: Database
  url: string
  deliver: (events: readonly WireEvent[]) => Promise<void>
  onError: (error: unknown) => void
}): Promise<Feed> {
  const { database, deliver, onError } = options
  const { newest } = await logExtent(database)
  const recent = new RecentEvents({ after: newest, capacity: keptEvents })
  const awake = new Wakeup(async () => {
    for (;;) {
      const rows = await numberedEvents(database, { after: recent.newest, limit: pageSize })
      if (rows.length > 0) {
        const events = rows.map(wireEvent)
        recent.add(events)
        await paced(() => deliver(events))
      }
      if (rows.length < pageSize) return
    }
  }, onError)
  const wake = () => awake.wake()
  const listener: Listener = listen({ url: options.url, channel: numberedChannel, onNotify: wake, onError })
  return {
    recent,
    wake,
    async close() {
      await listener.close()
      await awake.close()
    },
  }
}

// Delivers, and then pauses for as long as the delivery took, at most 100 ms. So with thousands of streams, events that
// come close together share a delivery. The process keeps half of its time for requests.
async function paced(deliver: () => Promise<void>): Promise<void> {
  const started = performance.now()
  await deliver()
  const elapsed = performance.now() - started
  if (elapsed > 1) await sleep(Math.min(elapsed, longestPauseMs))
}

/**
 * The latest events of the log, at most `capacity`, in memory. Streams that are almost up to date read events here and
 * not from the database.
 */
export class RecentEvents {
  readonly #capacity: number
  #events: WireEvent[] = []
  #after: number
  #newest: number

  /** Starts without events. The first event that is added must follow the id `after`. */
  constructor(options: { after: number; capacity: number }) {
    this.#capacity = options.capacity
    this.#after = options.after
    this.#newest = options.after
  }

  /** The id up to which the log has been read. */
  get newest(): number {
    return this.#newest
  }

  /** Adds the events that follow in the log. Beyond the capacity, the oldest events are dropped from memory. */
  add(events: readonly WireEvent[]): void {
    this.#events.push(...events)
    this.#newest = events.at(-1)?.id ?? this.#newest
    const surplus = this.#events.length - this.#capacity
    if (surplus > 0) this.#after = this.#events.splice(0, surplus).at(-1)?.id ?? this.#after
  }

  /** Returns at most `limit` events after an id, or null when some events after the id are no longer in memory. */
  after(id: number, limit: number): readonly WireEvent[] | null {
    if (id < this.#after) return null
    const start = this.#events.findIndex((event) => event.id > id)
    return start < 0 ? [] : this.#events.slice(start, start + limit)
  }
}
