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

/** Orphans by their ids whatever their age, or the oldest orphans that may be removed by now. */
export type DueOrphans = { ids: readonly string[] } | { limit: number }

const IdRow = row(Type.Object({ id: Type.String() }))

/**
 * Records files as orphans before their first bytes are stored. The files may be removed after `hours` hours, unless
 * attachments have claimed them.
 */
export async function recordOrphans(db: Queryable, files: { ids: readonly string[]; hours: number }): Promise<void> {
  await db.query(
    prepared(sql.unsafe`
    INSERT INTO loose_files (id, removable_at)
    SELECT id, now() + make_interval(hours => ${files.hours}) FROM unnest(${sql.array([...files.ids], 'text')}) AS id`),
  )
}

/** Claims each stored file for the attachment of the same id; false when one of the files was removed meanwhile. */
export async function claimFiles(tx: Transaction, ids: readonly string[]): Promise<boolean> {
  const { rowCount } = await tx.query(
    prepared(sql.unsafe`DELETE FROM loose_files WHERE id = ANY(${sql.array([...ids], 'text')})`),
  )
  return rowCount === ids.length
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
  const condition =
    'ids' in due ? sql.fragment`id = ANY(${sql.array([...due.ids], 'text')})` : sql.fragment`removable_at <= now()`
  const limit = 'ids' in due ? due.ids.length : due.limit
  return tx.anyFirst(sql.type(IdRow)`
    SELECT id FROM loose_files WHERE ${condition} ORDER BY removable_at LIMIT ${limit} FOR UPDATE SKIP LOCKED`)
}
