import pg from 'pg'
import { answerLimit, connectLimit, timeLimits, withSilenceSettings } from './time-limits.ts'

/**
 * The options of every connection that node-postgres opens without slonik. These options let each end notice within
 * fifteen seconds that the other end is silent. The options fit `pg.Client`, `pg.Pool` and pg-boss.
 */
export function sessionOptions(url: string) {
  return {
    connectionString: withSilenceSettings({ url }),
    connectionTimeoutMillis: connectLimit,
    // After this idle time TCP probes the other end. TCP gives up after ten probes, which are a second apart.
    keepAlive: true,
    keepAliveInitialDelayMillis: 2000,
    statement_timeout: timeLimits.work.statement,
    idle_in_transaction_session_timeout: timeLimits.work.pause,
    query_timeout: answerLimit('work'),
  } satisfies pg.ClientConfig
}

/**
 * A connection outside of the pool for things that belong to a session, such as LISTEN and advisory locks. PostgreSQL
 * shows the session under `name`. The connection closes when a statement gets no answer, since all later statements
 * would wait behind that statement.
 */
export function openSession({ url, name }: { url: string; name: string }): pg.Client {
  const client = new pg.Client({ ...sessionOptions(url), application_name: name })
  const query = client.query.bind(client) as (...words: unknown[]) => Promise<unknown>
  const watched = async (...words: unknown[]) => {
    try {
      return await query(...words)
    } catch (error) {
      if ((error as Error).message === 'Query read timeout') void client.end().catch(() => {})
      throw error
    }
  }
  return Object.assign(client, { query: watched as typeof client.query })
}
