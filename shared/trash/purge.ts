import Type from 'typebox'
import type { Config } from '../config/config.ts'
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

// How many times as many documents the trash of a workspace holds as the workspace itself.
const documentFactor = 10

/** The ids of the workspaces whose trash has an entry. */
export function workspacesWithTrash(db: Queryable): Promise<readonly string[]> {
  return db.anyFirst(sql.type(WorkspaceRow)`
    SELECT w.id FROM workspaces w WHERE EXISTS (SELECT FROM trash_entries e WHERE e.workspace_id = w.id)`)
}

/** The settings that say how long entries are kept, and how much the trash of a workspace holds. */
export type TrashLimits = TrashRetention & Pick<Config, 'QUOTA_DOCUMENTS' | 'QUOTA_ATTACHMENT_BYTES'>

/**
 * Returns at most `limit` entries of a workspace that are to be deleted, behind the entry `after`, the oldest first.
 * These are the expired entries. They are also the oldest entries for which the trash has no room: it holds as many
 * bytes of attachments as the workspace may have, and ten times as many documents. Without this bound, deleting would
 * be a way around both quotas. An entry without documents counts as one document, so the bound also holds for entries.
 */
export function dueEntries(
  db: Queryable,
  input: { workspaceId: string; limits: TrashLimits; after: string; limit: number },
): Promise<readonly EntryKey[]> {
  const { workspaceId, limits, after, limit } = input
  return db.any(sql.type(KeyRow)`
    SELECT workspace_id, id FROM (
      SELECT e.workspace_id, e.id, ${isKept(limits)} AS is_kept,
        sum(greatest(e.document_count, 1)) OVER newest AS documents, sum(a.bytes) OVER newest AS bytes
      FROM trash_entries e
      CROSS JOIN LATERAL (
        SELECT coalesce(sum((r.row ->> 'size')::int8), 0) AS bytes FROM trash_rows r
        WHERE r.workspace_id = e.workspace_id AND r.entry_id = e.id AND r.table_name = 'attachments'
      ) AS a
      WHERE e.workspace_id = ${workspaceId}
      WINDOW newest AS (ORDER BY e.id DESC)
    ) AS held
    WHERE id > ${after} AND (
      NOT is_kept OR bytes > ${limits.QUOTA_ATTACHMENT_BYTES} OR documents > ${limits.QUOTA_DOCUMENTS * documentFactor})
    ORDER BY id LIMIT ${limit}`)
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
