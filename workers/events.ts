import { numberUnlessBusy } from '../shared/events/number.ts'
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
    let again: NodeJS.Timeout | undefined
    const awake = new Wakeup(async () => {
      let numbered: number | null
      do numbered = await numberUnlessBusy(database, batch)
      while (numbered === batch)
      // The copy that works may end between its last look and its commit.
      clearTimeout(again)
      if (numbered === null) again = setTimeout(wake, busyPauseMs)
    })
    const onError = (err: unknown) => log.warn({ err }, 'event sequencer')
    const wake = () => void awake.signal().catch(onError)
    const listener = listen({ url: config.DATABASE_URL, channel: unnumberedChannel, onNotify: wake, onError })
    // For a connection that is dead without anybody having noticed.
    const backstop = setInterval(wake, backstopMs)
    return async () => {
      clearInterval(backstop)
      await listener.close()
      await awake.idle()
      clearTimeout(again)
    }
  },
}

const batch = 1000
const busyPauseMs = 1000
const backstopMs = 10_000
