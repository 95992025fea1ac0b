import Type, { type Static } from 'typebox'
import { type Queryable, sql, type Transaction } from '../database/database.ts'
import { row } from '../database/row.ts'
import type { Location } from '../knowledge-bases/locations.ts'
import { Nullable } from '../schema/identifiers.ts'
import type { TrashEntryRow } from './entries.ts'
import type { KeptTable } from './kept-table.ts'

/** The primary key of an entry. */
export type EntryKey = Pick<TrashEntryRow, 'workspace_id' | 'id'>

const IdRow = row(Type.Object({ id: Type.String() }))
const MoreRow = row(Type.Object({ more: Type.Boolean() }))

const ContentsShape = Type.Object({
  document_ids: Type.Array(Type.String()),
  set_ids: Type.Array(Type.String()),
  folders: Type.Number(),
  attachment_bytes: Type.Number(),
  read_at: Type.String(),
})

/**
 * The contents of an entry: ids of documents in their order, their document sets, and what counts against quotas.
 * `read_at` is the time of the database as PostgreSQL writes it.
 */
export type Contents = Static<typeof ContentsShape>

/** Returns the contents of an entry. */
export function contentsOf(db: Queryable, key: EntryKey): Promise<Contents> {
  const rowsOf = (table: string) => sql.fragment`
    trash_rows WHERE workspace_id = ${key.workspace_id} AND entry_id = ${key.id} AND table_name = ${table}`
  return db.one(sql.type(row(ContentsShape))`
    SELECT ARRAY(SELECT document_id FROM ${rowsOf('documents')} ORDER BY document_id) AS document_ids,
      ARRAY(SELECT DISTINCT row ->> 'document_set_id' FROM ${rowsOf('documents')}
        AND row ->> 'document_set_id' IS NOT NULL) AS set_ids,
      (SELECT count(*) FROM ${rowsOf('folders')}) AS folders,
      (SELECT coalesce(sum((row ->> 'size')::int8), 0)::int8 FROM ${rowsOf('attachments')}) AS attachment_bytes,
      clock_timestamp()::text AS read_at`)
}

/** Returns the document sets that have members in an entry. */
export function setsOfEntry(db: Queryable, key: EntryKey): Promise<readonly string[]> {
  return db.anyFirst(sql.type(IdRow)`
    SELECT DISTINCT row ->> 'document_set_id' AS id FROM trash_rows
    WHERE workspace_id = ${key.workspace_id} AND entry_id = ${key.id} AND table_name = 'documents'
      AND row ->> 'document_set_id' IS NOT NULL`)
}

/** Gives the document or folder that an entry restores its place and other members, before its row is restored. */
export async function placeRoot(
  tx: Transaction,
  entry: TrashEntryRow,
  { place, members }: { place: Location; members: Record<string, unknown> },
): Promise<void> {
  const [table, column, id] =
    entry.type === 'document'
      ? ['documents', 'folder_id', entry.document_id]
      : ['folders', 'parent_id', String(entry.folder_id)]
  const placed = { ...members, knowledge_base_id: place.knowledge_base_id, [column]: place.folder_id }
  await tx.query(sql.unsafe`
    UPDATE trash_rows SET row = row || ${JSON.stringify(placed)}::jsonb
    WHERE workspace_id = ${entry.workspace_id} AND entry_id = ${entry.id} AND table_name = ${table}
      AND row ->> 'id' = ${id}`)
}

/**
 * Takes the documents of an entry out of document sets that do not exist any more. Returns the ids of these documents.
 */
export function leaveMissingSets(tx: Transaction, key: EntryKey): Promise<readonly string[]> {
  return tx.anyFirst(sql.type(IdRow)`
    UPDATE trash_rows r SET row = row || jsonb_build_object('document_set_id', NULL, 'locale', NULL, 'variant_role', NULL,
      'workflow_status', NULL, 'translated_from_document_id', NULL, 'translated_from_version', NULL)
    WHERE r.workspace_id = ${key.workspace_id} AND r.entry_id = ${key.id} AND r.table_name = 'documents'
      AND r.row ->> 'document_set_id' IS NOT NULL
      AND NOT EXISTS (
        SELECT FROM document_sets s WHERE s.workspace_id = r.workspace_id AND s.id = r.row ->> 'document_set_id')
    RETURNING r.document_id AS id`)
}

const TakenShape = Type.Object({ locale: Type.String(), document_id: Type.String() })

/** Returns a document that has the locale of a document of the entry in their document set, or null. */
export function takenLocale(db: Queryable, key: EntryKey): Promise<Static<typeof TakenShape> | null> {
  return db.maybeOne(sql.type(row(TakenShape))`
    SELECT d.locale, d.id AS document_id FROM trash_rows r
    JOIN documents d ON d.workspace_id = r.workspace_id AND d.document_set_id = r.row ->> 'document_set_id'
      AND d.locale = r.row ->> 'locale'
    WHERE r.workspace_id = ${key.workspace_id} AND r.entry_id = ${key.id} AND r.table_name = 'documents'
    ORDER BY d.id LIMIT 1`)
}

/**
 * Takes the relations of an entry's documents into the entry from the other entries in which they are. A relation comes
 * back with whichever of its ends comes back first.
 */
export async function fetchRelations(tx: Transaction, key: EntryKey): Promise<void> {
  await tx.query(sql.unsafe`
    UPDATE trash_rows r SET entry_id = d.entry_id
    FROM trash_rows d
    WHERE d.workspace_id = ${key.workspace_id} AND d.entry_id = ${key.id} AND d.table_name = 'documents'
      AND r.workspace_id = d.workspace_id AND r.table_name = 'relations' AND r.other_document_id IS NOT NULL
      AND (r.document_id = d.document_id OR r.other_document_id = d.document_id) AND r.entry_id <> d.entry_id`)
}

// About the most rows and bytes that one statement restores.
const sliceRows = 2000
const sliceBytes = 8 * 1024 * 1024

/** The values that columns of restored rows get, by table. */
export type Places = Record<string, Record<string, unknown>>

/** Restores rows of tables in their order. Returns whether rows are left. */
export function restoreSlice(
  tx: Transaction,
  input: { key: EntryKey; tables: readonly KeptTable[]; places: Places },
): Promise<boolean> {
  const { key, tables, places } = input
  const names = tables.map(({ table }) => table)
  const large = Object.fromEntries(tables.flatMap((kept) => (kept.large ? [[kept.table, kept.large.column]] : [])))
  return tx.oneFirst(sql.type(MoreRow)`
    SELECT restore_trash_rows(${key.workspace_id}, ${key.id}, ${sql.array(names, 'text')},
      ${JSON.stringify(places)}::jsonb, ${JSON.stringify(large)}::jsonb, ${sliceRows}, ${sliceBytes}) AS more`)
}

const PairShape = Type.Object({
  target_id: Type.String(),
  source_id: Type.String(),
  target_exists: Type.Boolean(),
  source_exists: Type.Boolean(),
  is_current: Type.Boolean(),
  entry_id: Nullable(Type.String()),
})

/**
 * A translation and its source document, whose units are in an entry. `is_current` says that both have the bodies that
 * they had when the units were deleted. `entry_id` is the entry in which the document is that does not exist; null when
 * both exist or when the document was purged.
 */
export type KeptPair = Static<typeof PairShape>

/** Returns the pairs whose units are in an entry. */
export function pairsOfEntry(db: Queryable, key: EntryKey): Promise<readonly KeptPair[]> {
  return db.any(sql.type(row(PairShape))`
    SELECT p.document_id AS target_id, p.other_document_id AS source_id, t.id IS NOT NULL AS target_exists,
      s.id IS NOT NULL AS source_exists, d.entry_id,
      coalesce((p.row ->> 'target_seq')::int8 = t.body_seq AND (p.row ->> 'source_seq')::int8 = s.body_seq, false)
        AS is_current
    FROM trash_rows p
    LEFT JOIN documents t ON t.workspace_id = p.workspace_id AND t.id = p.document_id
    LEFT JOIN documents s ON s.workspace_id = p.workspace_id AND s.id = p.other_document_id
    LEFT JOIN trash_rows d ON d.workspace_id = p.workspace_id AND d.table_name = 'documents'
      AND d.document_id = CASE WHEN t.id IS NULL THEN p.document_id WHEN s.id IS NULL THEN p.other_document_id END
    WHERE p.workspace_id = ${key.workspace_id} AND p.entry_id = ${key.id} AND p.table_name = 'translation_targets'
    ORDER BY 1`)
}

/** Returns those of the entries that exist, and keeps them from being purged until the transaction ends. */
export function holdEntries(
  tx: Transaction,
  input: { workspaceId: string; entryIds: readonly string[] },
): Promise<readonly string[]> {
  return tx.anyFirst(sql.type(IdRow)`
    SELECT id FROM trash_entries
    WHERE workspace_id = ${input.workspaceId} AND id = ANY(${sql.array([...input.entryIds], 'text')})
    ORDER BY id FOR KEY SHARE`)
}

/** Moves the units of pairs to other entries, or drops them where a pair has no entry. */
export async function divertPairs(
  tx: Transaction,
  input: {
    key: EntryKey
    pairs: readonly { targetId: string; entryId: string | null }[]
    tables: readonly KeptTable[]
  },
): Promise<void> {
  const { key, tables } = input
  const pairs = input.pairs.map(({ targetId, entryId }) => ({ target_id: targetId, entry_id: entryId }))
  const names = tables.map(({ table }) => table)
  const rowsOfPairs = sql.fragment`
    r.workspace_id = ${key.workspace_id} AND r.entry_id = ${key.id}
      AND r.table_name = ANY(${sql.array(names, 'text')}) AND r.document_id = p.target_id`
  const diverted = sql.fragment`
    jsonb_to_recordset(${JSON.stringify(pairs)}::jsonb) AS p (target_id text, entry_id text)`
  await tx.query(sql.unsafe`DELETE FROM trash_rows r USING ${diverted} WHERE ${rowsOfPairs} AND p.entry_id IS NULL`)
  await tx.query(sql.unsafe`UPDATE trash_rows r SET entry_id = p.entry_id FROM ${diverted} WHERE ${rowsOfPairs}`)
}

/** Deletes an entry whose rows have been restored. */
export async function deleteEntry(tx: Transaction, key: EntryKey): Promise<void> {
  await tx.query(sql.unsafe`DELETE FROM trash_entries WHERE workspace_id = ${key.workspace_id} AND id = ${key.id}`)
}
