import { openDatabase } from '../shared/database.ts'
import { numberEvents } from '../shared/events/number.ts'
import { unnumberedChannel } from '../shared/events/record.ts'
import { listen } from '../shared/listener.ts'
import { Wakeup } from '../shared/wakeup.ts'
import type { Worker } from './runtime.ts'

/**
 * The sequencer: numbers committed events in batches, woken by the writes themselves. Several copies may run; one of
 * them works at a time. Its connection has short time limits, since all streams wait for it.
 */
export const eventSequencer: Worker = {
  name: 'events',
  async start({ config, log }) {
    const onError = (err: unknown) => log.warn({ err }, 'event sequencer')
    const database = await openDatabase({ url: config.DATABASE_URL, kind: 'events', poolSize: 1 })
    const awake = new Wakeup(async () => {
      while ((await numberEvents(database, batch)) === batch);
    }, onError)
    let lookingAgain: NodeJS.Timeout | undefined
    const onNotify = () => {
      awake.wake()
      // Another copy may have had its turn just then, and have ended between taking a notification and its commit.
      lookingAgain ??= setTimeout(() => {
        lookingAgain = undefined
        awake.wake()
      }, lookAgainMs)
    }
    const listener = listen({ url: config.DATABASE_URL, channel: unnumberedChannel, onNotify, onError })
    const backstop = setInterval(() => awake.wake(), backstopMs)
    return async () => {
      clearInterval(backstop)
      clearTimeout(lookingAgain)
      await listener.close()
      await awake.close()
      await database.end()
    }
  },
}

const batch = 1000
const lookAgainMs = 1000
// PostgreSQL drops a copy that has gone silent in its turn after eight seconds; the next one takes over soon after.
const backstopMs = 5000
