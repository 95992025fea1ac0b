import Type from 'typebox'
import { type Queryable, sql, type Transaction, withLimitsOf } from '../database/database.ts'
import { row } from '../database/row.ts'
import { deleteEmptySets, lockSets } from '../localization/queries.ts'
import { isKept, type TrashRetention } from './entries.ts'
import { lockForPurge } from './entry-locks.ts'
import { type EntryKey, setsOfEntry } from './queries.ts'

const WorkspaceRow = row(Type.Object({ id: Type.String() }))
const KeyRow = row(Type.Object({ workspace_id: Type.String(), id: Type.String() }))

// About the most rows and stored bytes that one statement deletes.
const sliceRows = 2000
const sliceBytes = 32 * 1024 * 1024

/** The ids of the workspaces whose trash has an entry. */
export function workspacesWithTrash(db: Queryable): Promise<readonly string[]> {
  return db.anyFirst(sql.type(WorkspaceRow)`
    SELECT w.id FROM workspaces w WHERE EXISTS (SELECT FROM trash_entries e WHERE e.workspace_id = w.id)`)
}

/** Returns at most `limit` expired entries of a workspace behind the entry `after`, the oldest first. */
export function expiredEntries(
  db: Queryable,
  input: { workspaceId: string; retention: TrashRetention; after: string; limit: number },
): Promise<readonly EntryKey[]> {
  return db.any(sql.type(KeyRow)`
    SELECT e.workspace_id, e.id FROM trash_entries e
    WHERE e.workspace_id = ${input.workspaceId} AND e.id > ${input.after} AND NOT ${isKept(input.retention)}
    ORDER BY e.id LIMIT ${input.limit}`)
}

/**
 * Deletes an entry for good, with its rows and with the document sets that lose their last member. The files of its
 * attachments become orphans, which the sweep of attachments removes. Returns false when the entry does not exist any
 * more, because somebody else has restored or purged it.
 */
export function purgeEntry(tx: Transaction, key: EntryKey): Promise<boolean> {
  return withLimitsOf(tx, 'whole', async () => {
    if (!(await lockForPurge(tx, key))) return false
    const setIds = await setsOfEntry(tx, key)
    await handOverRelations(tx, key)
    while ((await deleteSlice(tx, key)) > 0);
    await tx.query(sql.unsafe`
      DELETE FROM trash_entries WHERE workspace_id = ${key.workspace_id} AND id = ${key.id}`)
    if (setIds.length === 0) return true
    await lockSets(tx, { workspaceId: key.workspace_id, setIds })
    await deleteEmptySets(tx, { workspaceId: key.workspace_id, setIds })
    return true
  })
}

// A relation without ends is in the entry of the end that was deleted last. When the other end is in the trash too, the
// relation goes on waiting there.
async function handOverRelations(tx: Transaction, key: EntryKey): Promise<void> {
  await tx.query(sql.unsafe`
    UPDATE trash_rows r SET entry_id = d.entry_id
    FROM trash_rows d
    WHERE r.workspace_id = ${key.workspace_id} AND r.entry_id = ${key.id} AND r.table_name = 'relations'
      AND r.other_document_id IS NOT NULL
      AND d.workspace_id = r.workspace_id AND d.table_name = 'documents' AND d.entry_id <> r.entry_id
      AND d.document_id IN (r.document_id, r.other_document_id)`)
}

// Deletes at least one row while there are any. Returns how many rows it deleted.
async function deleteSlice(tx: Transaction, key: EntryKey): Promise<number> {
  const { rowCount } = await tx.query(sql.unsafe`
    DELETE FROM trash_rows WHERE ctid = ANY(ARRAY(
      SELECT place FROM (
        SELECT place, sum(size) OVER (ORDER BY table_name, n) - size AS bytes_before
        FROM (
          SELECT ctid AS place, table_name, n, pg_column_size(row) + coalesce(
            pg_column_size(large_text), pg_column_size(large_bytes), pg_column_size(large_json), 0) AS size
          FROM trash_rows WHERE workspace_id = ${key.workspace_id} AND entry_id = ${key.id}
          ORDER BY table_name, n LIMIT ${sliceRows}) AS first
      ) AS measured
      WHERE bytes_before < ${sliceBytes}))`)
  return rowCount
}
