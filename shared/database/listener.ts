import pg from 'pg'
import { keepSession } from './kept-session.ts'
import { openSession } from './session.ts'

const probeMs = 30_000
const retryMs = 1000

/** A running LISTEN of PostgreSQL, which `close` ends. */
export type Listener = { close: () => Promise<void> }

/**
 * Listens on channels, on a connection of its own, since a pooled connection cannot listen. `onNotify` is called for
 * every notification with its payload and channel, and with null after each (re)connect, because what happened in
 * between went unheard. TCP notices a silent network within fifteen seconds. A statement every 30 s also notices a
 * proxy that answers for a silent database.
 */
export function listen(options: {
  url: string
  channel: string | readonly string[]
  onNotify: (payload: string | null, channel?: string) => void
  onError: (error: Error) => void
}): Listener {
  const { url, channel, onNotify, onError } = options
  const channels = [channel].flat() as string[]
  let probing: NodeJS.Timeout | undefined
  return keepSession({
    open() {
      const session = openSession({ url, name: 'svc-listen' })
      session.on('notification', ({ payload = '', channel }) => onNotify(payload, channel))
      return session
    },
    prepare: (session) => session.query(channels.map((name) => `LISTEN ${pg.escapeIdentifier(name)}`).join(';')),
    onChange(session) {
      clearInterval(probing)
      if (session === undefined) return
      onNotify(null)
      probing = setInterval(() => void session.query('SELECT 1').catch(() => {}), probeMs)
    },
    onError,
  })
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
