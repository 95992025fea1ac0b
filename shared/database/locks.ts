import { sql, type Transaction } from './database.ts'

/**
 * Sets a savepoint before a transaction takes locks that it may have to take again, in their order. `releaseLocks`
 * rolls back to the savepoint that was set last.
 */
export async function markLocks(tx: Transaction): Promise<void> {
  await tx.query(sql.unsafe`SAVEPOINT locks`)
}

/**
 * Rolls back to the savepoint of `markLocks`. This releases all locks taken since the savepoint, and undoes all writes.
 */
export async function releaseLocks(tx: Transaction): Promise<void> {
  await tx.query(sql.unsafe`ROLLBACK TO SAVEPOINT locks`)
}
