import { type Database, type Queryable, sql } from './database.ts'

/**
 * Runs `work` on one unchanging state of the database: a read-only transaction that sees nothing committed after its
 * first statement. `longestPauseMs` is how long the connection may stand idle in between before PostgreSQL ends it. The
 * work runs once, so it may have effects elsewhere.
 */
export function inSnapshot<T>(
  database: Pick<Database, 'transaction'>,
  { longestPauseMs }: { longestPauseMs: number },
  work: (snapshot: Queryable) => Promise<T>,
): Promise<T> {
  return database.transaction(async (tx) => {
    await tx.query(sql.unsafe`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY`)
    await tx.query(sql.unsafe`
      SELECT set_config('idle_in_transaction_session_timeout', ${String(longestPauseMs)}, true)`)
    return work(tx)
  }, 0)
}
