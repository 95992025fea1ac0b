import pLimit from 'p-limit'
import pg from 'pg'
import { statementName } from '../../shared/database/database.ts'
import { keepSession } from '../../shared/database/kept-session.ts'
import { sessionOptions } from '../../shared/database/session.ts'

/**
 * A connection that stays open. The session of the connection owns the advisory locks of attempts and hears of
 * announced jobs.
 */
export type JobSession = {
  /** Resolves when the connection is open for the first time. */
  opened: Promise<void>
  /**
   * Runs a statement when earlier statements have ended, and returns its rows. Each connection plans each text only
   * once. Rejects while there is no connection.
   */
  query: <Row extends object>(text: string, values: unknown[]) => Promise<Row[]>
  close: () => Promise<void>
}

type Options = {
  url: string
  /**
   * Called after the connection was opened or opened again. The locks of the lost session are gone, and no announcement
   * was heard while there was no connection.
   */
  onOpen: () => void
  /** Called with the payload of each announced job (sql/queues/announcements.sql). */
  onAnnounced: (payload: string) => void
  onError: (error: Error) => void
}

/**
 * The time, in milliseconds, after which a statement without an answer counts as lost. The connection then counts as
 * lost too.
 */
const patienceMs = 5000

/**
 * Every statement of the session is planned once, without its values, often while no job waits. On an empty table all
 * plans look equally cheap. With these settings the planner can only use nested loops over indexes, which stay cheap
 * when many jobs wait.
 */
const plannerSettings = [
  'plan_cache_mode=force_generic_plan',
  'jit=off',
  ...['seqscan', 'bitmapscan', 'hashjoin', 'mergejoin'].map((kind) => `enable_${kind}=off`),
]

/** Opens the session and keeps it open: a connection that is lost or too slow to answer is replaced. */
export function openJobSession(options: Options): JobSession {
  const opened = Promise.withResolvers<void>()
  // The library pg must not be given a statement before the last statement has ended.
  const oneByOne = pLimit(1)
  let current: pg.Client | undefined
  // A session that was cut off is replaced at once. Without a session, other processes count the attempts of this
  // process as given up.
  const { close } = keepSession({
    open: () => clientOf(options),
    prepare: (client) => client.query('LISTEN svc_jobs'),
    onChange(client) {
      current = client
      if (client === undefined) return
      opened.resolve()
      options.onOpen()
    },
    onError: options.onError,
  })
  return {
    opened: opened.promise,
    query: (text, values) =>
      oneByOne(async () => {
        const client = current
        if (client === undefined) throw new Error('the connection of the jobs is lost')
        try {
          return (await client.query({ name: statementName(text), text, values })).rows
        } catch (error) {
          // The error does not come from PostgreSQL, so its answer may still be on its way or never come. So the
          // connection is closed.
          if (!(error instanceof pg.DatabaseError)) void client.end().catch(() => {})
          throw error
        }
      }),
    close,
  }
}

function clientOf({ url, onAnnounced }: Options): pg.Client {
  const client = new pg.Client({
    ...sessionOptions(withPlannerSettings(url)),
    application_name: 'svc-attempts',
    query_timeout: patienceMs,
  })
  client.on('notification', ({ payload = '' }) => onAnnounced(payload))
  return client
}

// Adds the settings to the URL, where the operator may have settings too. PostgreSQL takes settings from there.
function withPlannerSettings(url: string): string {
  const complete = new URL(url)
  const given = complete.searchParams.get('options') ?? ''
  complete.searchParams.set('options', `${plannerSettings.map((setting) => `-c ${setting}`).join(' ')} ${given}`.trim())
  return complete.href
}
