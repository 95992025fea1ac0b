import Type from 'typebox'
import {
  type Database,
  inTransaction,
  prepared,
  type Queryable,
  sql,
  type Transaction,
  withLimitsOf,
} from '../database/database.ts'
import { row } from '../database/row.ts'
import type { FileStore } from './store.ts'

/*
 * An orphan is a file of the store that no attachment owns. It is an upload that is still being received, was refused
 * or was cut off, or it is the file of a deleted attachment. Each orphan has a row in the table `loose_files`.
 */

/** One orphan whatever its age, or the oldest orphans that may be removed by now. */
export type DueOrphans = { id: string } | { limit: number }

const IdRow = row(Type.Object({ id: Type.String() }))

/**
 * Records an upload as an orphan before its first byte is stored. The file may be removed after `hours` hours, unless
 * an attachment has claimed the file.
 */
export async function recordOrphan(db: Queryable, file: { id: string; hours: number }): Promise<void> {
  await db.query(
    prepared(sql.unsafe`
    INSERT INTO loose_files (id, removable_at) VALUES (${file.id}, now() + make_interval(hours => ${file.hours}))`),
  )
}

/** Claims the stored file `id` for the attachment `id`; false when the file was removed meanwhile. */
export async function claimFile(tx: Transaction, id: string): Promise<boolean> {
  const { rowCount } = await tx.query(prepared(sql.unsafe`DELETE FROM loose_files WHERE id = ${id}`))
  return rowCount === 1
}

/**
 * Removes orphans from the store and then their rows; returns how many. An orphan whose row another transaction has
 * locked is left out. The bytes go before the commit: if the transaction is rolled back, the next call removes them
 * again.
 */
export async function removeOrphans(
  context: { database: Database; files: FileStore },
  due: DueOrphans,
): Promise<number> {
  return inTransaction(context.database, async (tx) => {
    const ids = await lockOrphans(tx, due)
    if (ids.length === 0) return 0
    await withLimitsOf(tx, 'whole', () => context.files.remove(ids))
    await tx.query(sql.unsafe`DELETE FROM loose_files WHERE id = ANY(${sql.array([...ids], 'text')})`)
    return ids.length
  })
}

function lockOrphans(tx: Transaction, due: DueOrphans): Promise<readonly string[]> {
  const condition = 'id' in due ? sql.fragment`id = ${due.id}` : sql.fragment`removable_at <= now()`
  const limit = 'id' in due ? 1 : due.limit
  return tx.anyFirst(sql.type(IdRow)`
    SELECT id FROM loose_files WHERE ${condition} ORDER BY removable_at LIMIT ${limit} FOR UPDATE SKIP LOCKED`)
}
