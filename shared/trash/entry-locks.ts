import type { FragmentSqlToken } from 'slonik'
import Type from 'typebox'
import { sql, type Transaction } from '../database/database.ts'
import { row } from '../database/row.ts'
import { Refusal } from '../errors/errors.ts'
import type { EntryKey } from './queries.ts'

/*
 * Whoever restores or purges an entry may have to move rows to another entry or from it. So all these entries are
 * locked at once, in id order. Otherwise two restorations could wait for each other.
 */

// How many times the entries are locked. They are locked anew when the deletion or restoration of another entry has
// made one more entry necessary in between.
const maximumRounds = 5

const IdRow = row(Type.Object({ id: Type.String() }))

/**
 * Locks an entry that is restored, with the entries between which rows move. Until the transaction ends, the planner
 * reads tables by their indexes where it can. Returns false when the entry does not exist. Refuses with 503 when, five
 * times in turn, one more entry has become necessary while the locks were taken.
 */
export function lockForRestoration(tx: Transaction, key: EntryKey): Promise<boolean> {
  const { workspace_id: workspaceId, id } = key
  return lockEntries(tx, {
    key,
    others: sql.fragment`
      SELECT d.entry_id FROM trash_rows p
      JOIN trash_rows d ON d.workspace_id = p.workspace_id AND d.table_name = 'documents'
        AND d.document_id IN (p.document_id, p.other_document_id)
      WHERE p.workspace_id = ${workspaceId} AND p.entry_id = ${id} AND p.table_name = 'translation_targets'
      UNION
      SELECT r.entry_id FROM trash_rows d
      JOIN trash_rows r ON r.workspace_id = d.workspace_id AND r.table_name = 'relations'
        AND r.other_document_id IS NOT NULL
        AND (r.document_id = d.document_id OR r.other_document_id = d.document_id)
      WHERE d.workspace_id = ${workspaceId} AND d.entry_id = ${id} AND d.table_name = 'documents'`,
  })
}

/**
 * Locks an entry that is purged, with the entries that get its relations. Returns and refuses as `lockForRestoration`
 * does.
 */
export function lockForPurge(tx: Transaction, key: EntryKey): Promise<boolean> {
  return lockEntries(tx, {
    key,
    others: sql.fragment`
      SELECT d.entry_id FROM trash_rows r
      JOIN trash_rows d ON d.workspace_id = r.workspace_id AND d.table_name = 'documents'
        AND d.document_id IN (r.document_id, r.other_document_id)
      WHERE r.workspace_id = ${key.workspace_id} AND r.entry_id = ${key.id} AND r.table_name = 'relations'
        AND r.other_document_id IS NOT NULL`,
  })
}

type Related = { key: EntryKey; others: FragmentSqlToken }

async function lockEntries(tx: Transaction, { key, others }: Related): Promise<boolean> {
  const related = () => tx.anyFirst(sql.type(IdRow)`SELECT DISTINCT o.entry_id AS id FROM (${others}) AS o`)
  // The statistics of the table lag behind a large deletion, and often say that the table is empty.
  await tx.query(sql.unsafe`SELECT set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true)`)
  await tx.query(sql.unsafe`SAVEPOINT trash_entries`)
  for (let round = 1; round <= maximumRounds; round += 1) {
    const ids = [...new Set([key.id, ...(await related())])]
    const locked = await tx.anyFirst(sql.type(IdRow)`
      SELECT id FROM trash_entries
      WHERE workspace_id = ${key.workspace_id} AND id = ANY(${sql.array(ids, 'text')}) ORDER BY id FOR UPDATE`)
    if (!locked.includes(key.id)) return false
    if ((await related()).every((id) => ids.includes(id))) {
      await tx.query(sql.unsafe`RELEASE SAVEPOINT trash_entries`)
      return true
    }
    await tx.query(sql.unsafe`ROLLBACK TO SAVEPOINT trash_entries`)
  }
  throw new Refusal('service_unavailable', { headers: { 'Retry-After': '1' } })
}
