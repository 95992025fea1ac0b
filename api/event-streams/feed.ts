import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../../shared/database/database.ts'
import { type Listener, listen } from '../../shared/database/listener.ts'
import { Wakeup } from '../../shared/database/wakeup.ts'
import { numberedChannel } from '../../shared/events/number.ts'
import { logExtent, numberedEvents } from '../../shared/events/queries.ts'
import { RecentEvents } from './recent-events.ts'
import { type WireEvent, wireEvent } from './wire.ts'

/** The log as this process follows it. */
export type Feed = {
  readonly recent: RecentEvents
  /** Looks whether there is something new, as a notification does; a lost one delays events no longer than this. */
  wake: () => void
  close: () => Promise<void>
}

/**
 * Follows the event log from its end: one connection listens, each wake-up reads what is new in one statement, however
 * many streams are open. `deliver` gets the events in the order of their ids, after they are in `recent`.
 */
export async function followLog(options: {
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

/** Events read, and written to a stream, at once: with the longest titles some 500 KB, mostly below 100. */
export const pageSize = 200

// A few minutes of a busy service in a few megabytes.
const keptEvents = 2000

// A pause as long as the delivery took: with thousands of streams, events that come close together share a delivery,
// and the process keeps half of its time for requests.
async function paced(deliver: () => Promise<void>): Promise<void> {
  const started = performance.now()
  await deliver()
  const elapsed = performance.now() - started
  if (elapsed > 1) await sleep(Math.min(elapsed, longestPauseMs))
}

const longestPauseMs = 100
