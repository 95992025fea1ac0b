import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'

/** The pause after a failed attempt to connect, in milliseconds. */
const pauseMs = 500

type Options = {
  /** Makes a client that is not connected yet. */
  open: () => pg.Client
  /** Prepares a connected client, such as by LISTEN. */
  prepare: (client: pg.Client) => Promise<unknown>
  /** Called with each client that is prepared, and with undefined when its connection has ended. */
  onChange: (client: pg.Client | undefined) => void
  /** Called once for each session that could not be opened or was lost. */
  onError: (error: Error) => void
}

/**
 * Keeps a session of PostgreSQL open until `close`: a connection that was lost is replaced. A session that was prepared
 * and was cut off is replaced at once.
 */
export function keepSession(options: Options): { close: () => Promise<void> } {
  const stop = new AbortController()
  const running = run({ ...options, signal: stop.signal })
  return {
    async close() {
      stop.abort()
      await running
    },
  }
}

async function run({ open, prepare, onChange, onError, signal }: Options & { signal: AbortSignal }): Promise<void> {
  while (!signal.aborted) {
    const client = open()
    let failure: unknown
    client.on('error', (error) => {
      failure ??= error
    })
    const over = new Promise((end) => client.once('end', end))
    const close = () => void client.end().catch(() => {})
    signal.addEventListener('abort', close)
    let isPrepared = false
    try {
      await client.connect()
      if (signal.aborted) close()
      await prepare(client)
      isPrepared = true
      onChange(client)
      await over
    } catch (error) {
      failure ??= error
      close()
    }
    onChange(undefined)
    signal.removeEventListener('abort', close)
    if (failure !== undefined && !signal.aborted) onError(failure as Error)
    if (!isPrepared) await sleep(pauseMs, undefined, { signal }).catch(() => {})
  }
}
