import { type Database, type Queryable, sql, withLimitsOf } from './database.ts'

/**
 * Runs `work` on one unchanging state of the database: a read-only transaction that sees nothing committed after its
 * first statement. It locks nobody out, so it may take the time of what covers a whole knowledge base. The work runs
 * once, so it may have effects elsewhere.
 */
export function inSnapshot<T>(
  database: Pick<Database, 'transaction'>,
  work: (snapshot: Queryable) => Promise<T>,
): Promise<T> {
  return database.transaction(async (tx) => {
    await tx.query(sql.unsafe`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY`)
    return withLimitsOf(tx, 'whole', () => work(tx))
  }, 0)
}
