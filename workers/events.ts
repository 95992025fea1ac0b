import { openDatabase } from '../shared/database/database.ts'
import { listen, Wakeup } from '../shared/database/listener.ts'
import { numberUnlessBusy } from '../shared/events/number.ts'
import { unnumberedChannel } from '../shared/events/record.ts'
import type { Worker } from './runtime/runtime.ts'

// The most events that get ids in one transaction.
const batch = 1000
const busyPauseMs = 1000
const backstopMs = 10_000

/**
 * The sequencer, which gives ids to committed events in batches. Writes wake the sequencer. Several processes may run a
 * sequencer, but only the process that holds a lock in PostgreSQL gives ids. The connection has short time limits,
 * since all event streams wait for the sequencer.
 */
export const eventSequencer: Worker = {
  name: 'events',
  async start({ config, log }) {
    const onError = (err: unknown) => log.warn({ err }, 'event sequencer')
    const database = await openDatabase({ url: config.DATABASE_URL, kind: 'events', poolSize: 1 })
    let again: NodeJS.Timeout | undefined
    const awake = new Wakeup(async () => {
      let numbered: number | null
      do numbered = await numberUnlessBusy(database, batch)
      while (numbered === batch)
      // Another process has the lock. That process may stop before it sees the events for which this process was woken.
      // So this process tries again after a second.
      clearTimeout(again)
      if (numbered === null) again = setTimeout(wake, busyPauseMs)
    }, onError)
    const wake = () => awake.wake()
    const listener = listen({ url: config.DATABASE_URL, channel: unnumberedChannel, onNotify: wake, onError })
    // Finds the events whose notification was lost without a sign.
    const backstop = setInterval(wake, backstopMs)
    return async () => {
      clearInterval(backstop)
      await listener.close()
      await awake.close()
      clearTimeout(again)
      await database.end()
    }
  },
}
