import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { openSession } from './session.ts'

/** A running LISTEN; `close` ends it. */
export type Listener = { close: () => Promise<void> }

/**
 * Holds one connection of its own that listens on a channel, since a pooled connection cannot. `onNotify` is called for
 * every notification, and once after each (re)connect, because what happened in between went unheard. TCP notices a silent
 * network within fifteen seconds; a statement now and then also notices a proxy that answers for a silent database.
 */
export function listen(options: {
  url: string
  channel: string
  onNotify: () => void
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
      await sleep(500, undefined, { signal: stop.signal }).catch(() => {})
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

// Resolves or rejects when the connection is over.
async function session(client: pg.Client, options: { channel: string; onNotify: () => void }): Promise<void> {
  const over = new Promise<void>((resolve, reject) => {
    client.once('end', resolve)
    client.once('error', reject)
  })
  // A connection lost before it listens rejects this as well as the query; then nobody awaits it any more.
  over.catch(() => {})
  client.on('error', () => {})
  client.on('notification', options.onNotify)
  await client.connect()
  await client.query(`LISTEN ${pg.escapeIdentifier(options.channel)}`)
  options.onNotify()
  const probing = setInterval(() => void client.query('SELECT 1').catch(() => {}), probeMs)
  try {
    await over
  } finally {
    clearInterval(probing)
  }
}

const probeMs = 30_000

/**
 * Runs a piece of work when woken, never twice at once; a wake-up during a run leads to one more run. The work has to end
 * by itself: every statement of it has a time limit. What it throws is told to `onError`, and it is tried again a second
 * later.
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

  /** Asks for a run that begins from now on. */
  wake(): void {
    if (this.#closed) return
    this.#again = true
    this.#running ??= this.#run()
  }

  /** Resolves when nothing runs any more; nothing is begun from now on. */
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

const retryMs = 1000
