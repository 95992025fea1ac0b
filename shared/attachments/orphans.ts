import Type from 'typebox'
import { prepared, type Queryable, sql, type Transaction } from '../database/database.ts'
import { row } from '../database/row.ts'

/** Writes down a file before its first byte is stored; it may be removed in so many hours unless it is claimed. */
export async function insertLooseFile(db: Queryable, file: { id: string; hours: number }): Promise<void> {
  await db.query(
    prepared(sql.unsafe`
    INSERT INTO loose_files (id, removable_at) VALUES (${file.id}, now() + make_interval(hours => ${file.hours}))`),
  )
}

/** Makes a stored file that of an attachment; false when it was removed meanwhile. */
export async function claimFile(tx: Transaction, id: string): Promise<boolean> {
  const { rowCount } = await tx.query(prepared(sql.unsafe`DELETE FROM loose_files WHERE id = ${id}`))
  return rowCount === 1
}

/** One loose file whatever its age, or the oldest of those that may be removed. */
export type DueFiles = { id: string } | { limit: number }

const IdRow = row(Type.Object({ id: Type.String() }))

/** Locks loose files; those that another transaction has locked are left out. */
export function lockLooseFiles(tx: Transaction, due: DueFiles): Promise<readonly string[]> {
  const condition = 'id' in due ? sql.fragment`id = ${due.id}` : sql.fragment`removable_at <= now()`
  const limit = 'id' in due ? 1 : due.limit
  return tx.anyFirst(sql.type(IdRow)`
    SELECT id FROM loose_files WHERE ${condition} ORDER BY removable_at LIMIT ${limit} FOR UPDATE SKIP LOCKED`)
}

/** Forgets locked loose files. */
export async function deleteLooseFiles(tx: Transaction, ids: readonly string[]): Promise<void> {
  await tx.query(sql.unsafe`DELETE FROM loose_files WHERE id = ANY(${sql.array([...ids], 'text')})`)
}
