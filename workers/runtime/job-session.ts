import { setTimeout as sleep } from 'node:timers/promises'
import pLimit from 'p-limit'
import pg from 'pg'
import { sessionOptions } from '../../shared/database/session.ts'

/** One connection that is kept open: it holds session locks and hears of jobs while it runs statements. */
export type JobSession = {
  /** Resolves when it has been open once. */
  opened: Promise<void>
  /** Runs a statement after those before it and returns its rows; rejects while there is no connection. */
  query: <Row extends object>(text: string, values: unknown[]) => Promise<Row[]>
  close: () => Promise<void>
}

type Options = {
  url: string
  /** Called after each (re)connect: locks are gone, and what was announced in between went unheard. */
  onOpen: () => void
  /** Called for each job that is announced, see sql/queues/announcements.sql. */
  onAnnounced: (payload: string) => void
  onError: (error: Error) => void
}

/** Opens the session and keeps it open: a connection that is lost, or owes an answer for five seconds, is replaced. */
export function openJobSession(options: Options): JobSession {
  const stop = new AbortController()
  const opened = Promise.withResolvers<void>()
  // pg wants no statement begun before the last one has ended.
  const oneByOne = pLimit(1)
  let current: pg.Client | undefined
  const running = keepOpen({ ...options, signal: stop.signal }, (client) => {
    current = client
    if (client === undefined) return
    opened.resolve()
    options.onOpen()
  })
  return {
    opened: opened.promise,
    query: (text, values) =>
      oneByOne(async () => {
        const client = current
        if (client === undefined) throw new Error('the connection of the jobs is lost')
        try {
          return (await client.query(text, values)).rows
        } catch (error) {
          // An error without a code is none of PostgreSQL's: the answer may still be on its way, or never come.
          if (!(error instanceof pg.DatabaseError)) void client.end().catch(() => {})
          throw error
        }
      }),
    async close() {
      stop.abort()
      await running
    },
  }
}

const patienceMs = 5000
const pauseMs = 500

async function keepOpen(
  options: Options & { signal: AbortSignal },
  onChange: (client: pg.Client | undefined) => void,
): Promise<void> {
  while (!options.signal.aborted) {
    const client = clientOf(options)
    const over = new Promise((end) => client.once('end', end))
    const close = () => void client.end().catch(() => {})
    options.signal.addEventListener('abort', close)
    let listening = false
    try {
      await client.connect()
      if (options.signal.aborted) close()
      await client.query('LISTEN svc_jobs')
      listening = true
      onChange(client)
      await over
    } catch (error) {
      if (!options.signal.aborted) options.onError(error as Error)
      close()
    }
    onChange(undefined)
    options.signal.removeEventListener('abort', close)
    // A session that was cut off is wanted back at once: others may take its attempts for dead.
    if (!listening) await sleep(pauseMs, undefined, { signal: options.signal }).catch(() => {})
  }
}

function clientOf({ url, onAnnounced, onError }: Options): pg.Client {
  const client = new pg.Client({
    ...sessionOptions(url),
    application_name: 'svc-attempts',
    query_timeout: patienceMs,
  })
  client.on('error', onError)
  client.on('notification', ({ payload = '' }) => onAnnounced(payload))
  return client
}
