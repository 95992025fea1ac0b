import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { openSession } from './session.ts'

const probeMs = 30_000
const reconnectMs = 500
const retryMs = 1000

/** A running LISTEN of PostgreSQL, which `close` ends. */
export type Listener = { close: () => Promise<void> }

/**
 * Listens on a channel, on a connection of its own, since a pooled connection cannot listen. `onNotify` is called for
 * every notification with its payload, and with null after each (re)connect, because what happened in between went
 * unheard. TCP notices a silent network within fifteen seconds. A statement every 30 s also notices a proxy that
 * answers for a silent database.
 */
export function listen(options: {
  url: string
  channel: string
  onNotify: (payload: string | null) => void
  onError: (error: Error) => void
}): Listener {
  const stop = new AbortController()
  let client: pg.Client | undefined
  const running = (async () => {
    while (!stop.signal.aborted) {
      client = openSession({ url: options.url, name: 'svc-listen' })
      try {
        await session(client, options)
      } catch (error) {
        if (!stop.signal.aborted) options.onError(error as Error)
      }
      await sleep(reconnectMs, undefined, { signal: stop.signal }).catch(() => {})
    }
  })()
  return {
    async close() {
      stop.abort()
      await client?.end().catch(() => {})
      await running
    },
  }
}

// Settles when the connection has ended.
async function session(
  client: pg.Client,
  options: { channel: string; onNotify: (payload: string | null) => void },
): Promise<void> {
  const over = new Promise<void>((resolve, reject) => {
    client.once('end', resolve)
    client.once('error', reject)
  })
  // When the connection is lost before LISTEN has run, `connect` or `query` rejects as well, and nobody awaits `over`.
  // This handler keeps the second rejection from ending the process.
  over.catch(() => {})
  client.on('error', () => {})
  client.on('notification', ({ payload = '' }) => options.onNotify(payload))
  await client.connect()
  await client.query(`LISTEN ${pg.escapeIdentifier(options.channel)}`)
  options.onNotify(null)
  const probing = setInterval(() => void client.query('SELECT 1').catch(() => {}), probeMs)
  try {
    await over
  } finally {
    clearInterval(probing)
  }
}

/**
 * Runs `work` when woken, one run at a time; a wake-up during a run leads to one more run. `work` must end by itself,
 * which its statements do by their time limits. An error goes to `onError`, and `work` runs again a second later.
 */
export class Wakeup {
  readonly #work: () => Promise<void>
  readonly #onError: (error: unknown) => void
  #running: Promise<void> | undefined
  #retry: NodeJS.Timeout | undefined
  #again = false
  #closed = false

  constructor(work: () => Promise<void>, onError: (error: unknown) => void) {
    this.#work = work
    this.#onError = onError
  }

  /** Asks for a run that begins after this call. */
  wake(): void {
    if (this.#closed) return
    this.#again = true
    this.#running ??= this.#run()
  }

  /** Starts no further run. Resolves when the current run has ended. */
  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#retry)
    await this.#running
  }

  async #run(): Promise<void> {
    try {
      while (this.#again && !this.#closed) {
        this.#again = false
        await this.#work()
      }
    } catch (error) {
      this.#onError(error)
      clearTimeout(this.#retry)
      this.#retry = setTimeout(() => this.wake(), retryMs)
    } finally {
      this.#running = undefined
    }
  }
}
