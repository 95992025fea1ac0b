import { numberEvents } from '../shared/events/number.ts'
import { unnumberedChannel } from '../shared/events/record.ts'
import { listen } from '../shared/listener.ts'
import { Wakeup } from '../shared/wakeup.ts'
import type { Worker } from './runtime.ts'

/**
 * The sequencer: numbers committed events in batches, woken by the writes themselves. Several copies may run; one of
 * them works at a time.
 */
export const eventSequencer: Worker = {
  name: 'events',
  async start({ config, database, log }) {
    const awake = new Wakeup(async () => {
      while ((await numberEvents(database, batch)) === batch);
    })
    const onError = (err: unknown) => log.warn({ err }, 'event sequencer')
    const wake = () => void awake.signal().catch(onError)
    const listener = listen({ url: config.DATABASE_URL, channel: unnumberedChannel, onNotify: wake, onError })
    // Another copy may have ended between taking a notification and its commit.
    const backstop = setInterval(wake, 1000)
    return async () => {
      clearInterval(backstop)
      await listener.close()
      await awake.idle()
    }
  },
}

const batch = 1000
