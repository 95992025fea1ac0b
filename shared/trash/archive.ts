import type { FragmentSqlToken } from 'slonik'
import Type from 'typebox'
import { prepared, sql, type Transaction } from '../database/database.ts'
import { row } from '../database/row.ts'
import type { Trash, TrashRoot } from '../documents/deletion.ts'
import type { KeptTable, LargeType } from './kept-table.ts'

/**
 * Returns the trash to which rows of `tables` go. An entry expires after `days` days. The rows are deleted and kept by
 * one statement, so exactly what is deleted is kept, whatever others write at the same time.
 */
export function trashOf({ tables, days }: { tables: readonly KeptTable[]; days: number }): Trash {
  return {
    sizesOf: (tx, input) => sizesOf(tx, { ...input, tables }),
    open: ({ tx, caller }, input) => openEntries(tx, { ...input, deletedBy: caller.userId, days }),
    moveDocuments: (tx, input) => moveDocuments(tx, { ...input, tables }),
    moveContainers: (tx, input) => moveContainers(tx, { ...input, tables }),
  }
}

type Opening = {
  workspaceId: string
  roots: readonly TrashRoot[]
  documentIds: readonly string[]
  deletedBy: string
  days: number
}

// The names on the path are those of now: in the trash, what was above may be gone or renamed.
async function openEntries(
  tx: Transaction,
  { workspaceId, roots, documentIds, deletedBy, days }: Opening,
): Promise<void> {
  const entries = roots.map((root) => ({
    id: root.entryId,
    type: root.type,
    document_id: root.type === 'document' ? root.documentId : null,
    folder_id: root.type === 'folder' ? root.folderId : null,
    knowledge_base_id: root.knowledgeBaseId,
    parent_folder_id: root.parentFolderId,
    name: root.name,
    document_count: root.documentCount,
  }))
  await tx.query(
    prepared(sql.unsafe`
    INSERT INTO trash_entries (workspace_id, id, type, document_id, folder_id, knowledge_base_id, parent_folder_id, name,
      path_text, document_count, not_restored, deleted_by, deleted_at, expires_at)
    SELECT ${workspaceId}, e.id, e.type, e.document_id, e.folder_id, e.knowledge_base_id, e.parent_folder_id, e.name,
      CASE WHEN e.type = 'knowledge_base' THEN e.name ELSE (
        SELECT string_agg(p.entry ->> 'name', ' / ' ORDER BY p.place)
        FROM jsonb_array_elements(document_path(${workspaceId}, e.knowledge_base_id, e.parent_folder_id, '', e.name))
          WITH ORDINALITY AS p (entry, place)) END,
      e.document_count,
      CASE WHEN EXISTS (
        SELECT FROM public_shares s
        WHERE s.workspace_id = ${workspaceId}
          AND s.document_id = ANY(${sql.array([...documentIds], 'text')} || coalesce(e.document_id, '')))
        THEN ARRAY['public_share'] ELSE ARRAY[]::text[] END,
      ${deletedBy}, n.time, n.time + make_interval(days => ${days})
    FROM (SELECT clock_timestamp()::timestamptz(3) AS time) AS n
    CROSS JOIN jsonb_to_recordset(${JSON.stringify(entries)}::jsonb) AS e (id text, type text, document_id text,
      folder_id bigint, knowledge_base_id bigint, parent_folder_id bigint, name text, document_count integer)`),
  )
}

const SizeRow = row(Type.Object({ id: Type.String(), bytes: Type.Number() }))

// The stored, compressed sizes, which PostgreSQL knows without reading the values.
async function sizesOf(
  tx: Transaction,
  { workspaceId, documentIds, tables }: Omit<DocumentMove, 'entryIds'>,
): Promise<ReadonlyMap<string, number>> {
  const ids = sql.array([...documentIds], 'text')
  const values = tables.flatMap((kept): FragmentSqlToken[] => {
    if (kept.large === undefined || !('ofDocument' in kept)) return []
    const [id, value] = [sql.identifier(['t', kept.ofDocument]), sql.identifier(['t', kept.large.column])]
    return [
      sql.fragment`
        SELECT ${id} AS id, pg_column_size(${value}) AS bytes FROM ${sql.identifier([kept.table])} t
        WHERE t.workspace_id = ${workspaceId} AND ${id} = ANY(${ids})`,
    ]
  })
  const sizes = await tx.any(sql.type(SizeRow)`
    SELECT v.id, sum(v.bytes)::int8 AS bytes FROM (${sql.join(values, sql.fragment` UNION ALL `)}) AS v
    WHERE v.bytes IS NOT NULL GROUP BY v.id`)
  return new Map(sizes.map(({ id, bytes }) => [id, bytes]))
}

type DocumentMove = {
  workspaceId: string
  documentIds: readonly string[]
  entryIds: readonly string[]
  tables: readonly KeptTable[]
}

// Tables that are not kept lose their rows by the foreign keys of those that are. A unit is of two documents; it goes
// with whichever is deleted first. The row of the translation is kept with the body sequence numbers of both, which say
// later whether the units are still up to date.
async function moveDocuments(
  tx: Transaction,
  { workspaceId, documentIds, entryIds, tables }: DocumentMove,
): Promise<void> {
  const moves = tables.flatMap((kept): FragmentSqlToken[] => {
    if ('ofDocument' in kept) {
      const column = sql.identifier(['t', kept.ofDocument])
      return [
        move(kept, {
          using: sql.fragment`doomed d`,
          where: sql.fragment`t.workspace_id = ${workspaceId} AND ${column} = d.document_id`,
          keys: sql.fragment`d.entry_id, d.document_id, NULL::text`,
        }),
      ]
    }
    if ('ofTranslation' in kept) {
      const column = sql.identifier(['t', kept.ofTranslation])
      return [
        move(kept, {
          using: sql.fragment`pairs p`,
          where: sql.fragment`t.workspace_id = ${workspaceId} AND ${column} = p.translation_id`,
          keys: sql.fragment`p.entry_id, p.translation_id, p.source_id`,
          added: kept.table === 'translation_targets' ? sql.fragment`p.seqs` : undefined,
        }),
      ]
    }
    return []
  })
  await keep(tx, {
    workspaceId,
    moves,
    scope: sql.fragment`
      doomed AS MATERIALIZED (
        SELECT * FROM unnest(${sql.array([...entryIds], 'text')}, ${sql.array([...documentIds], 'text')})
          AS d (entry_id, document_id)
      ), pairs AS MATERIALIZED (
        SELECT DISTINCT ON (t.target_document_id)
          d.entry_id, t.target_document_id AS translation_id, t.source_document_id AS source_id,
          jsonb_build_object('target_seq', translation.body_seq, 'source_seq', source.body_seq) AS seqs
        FROM doomed d
        JOIN translation_targets t ON t.workspace_id = ${workspaceId}
          AND (t.target_document_id = d.document_id OR t.source_document_id = d.document_id)
        JOIN documents translation ON translation.workspace_id = t.workspace_id AND translation.id = t.target_document_id
        JOIN documents source ON source.workspace_id = t.workspace_id AND source.id = t.source_document_id
        ORDER BY t.target_document_id
      )`,
  })
}

type ContainerMove = {
  workspaceId: string
  folders: readonly number[]
  knowledgeBases: readonly number[]
  entryId: string
  tables: readonly KeptTable[]
}

// Folders and concepts are locked first, so that nobody adds to them what the deletion would not see.
async function moveContainers(
  tx: Transaction,
  { workspaceId, entryId, tables, ...deleted }: ContainerMove,
): Promise<void> {
  const folders = sql.fragment`${sql.array([...deleted.folders], 'int8')}`
  const knowledgeBases = sql.fragment`${sql.array([...deleted.knowledgeBases], 'int8')}`
  const concepts = sql.fragment`
    SELECT id FROM concepts WHERE workspace_id = ${workspaceId} AND knowledge_base_id = ANY(${knowledgeBases})`
  await tx.query(sql.unsafe`
    SELECT FROM folders WHERE workspace_id = ${workspaceId} AND id = ANY(${folders}) ORDER BY id FOR UPDATE`)
  if (deleted.knowledgeBases.length > 0) await tx.query(sql.unsafe`${concepts} ORDER BY id FOR UPDATE`)
  const moves = tables.flatMap((kept): FragmentSqlToken[] => {
    const conditions = conditionsOf(kept, { folders, knowledgeBases, concepts: sql.fragment`ARRAY(${concepts})` })
    if (conditions.length === 0) return []
    const ofDeleted = sql.join(conditions, sql.fragment` OR `)
    return [
      move(kept, {
        using: null,
        where: sql.fragment`t.workspace_id = ${workspaceId} AND (${ofDeleted})`,
        keys: sql.fragment`${entryId}::text, NULL::text, NULL::text`,
      }),
    ]
  })
  await keep(tx, { workspaceId, moves, scope: null })
}

type Containers = Record<'folders' | 'knowledgeBases' | 'concepts', FragmentSqlToken>

function conditionsOf(kept: KeptTable, { folders, knowledgeBases, concepts }: Containers): FragmentSqlToken[] {
  const isAmong = (column: string | undefined, ids: FragmentSqlToken) =>
    column === undefined ? [] : [sql.fragment`${sql.identifier(['t', column])} = ANY(${ids})`]
  if ('ofConcept' in kept) return isAmong(kept.ofConcept, concepts)
  if ('ofTranslation' in kept) return []
  return [...isAmong(kept.ofFolder, folders), ...isAmong(kept.ofKnowledgeBase, knowledgeBases)]
}

type Move = {
  /** The rows that say what is deleted; null when `where` says it alone. */
  using: FragmentSqlToken | null
  where: FragmentSqlToken
  /** Entry, document and other document of each row. */
  keys: FragmentSqlToken
  /** An object whose members are kept with the row. */
  added?: FragmentSqlToken | undefined
}

// A large value is taken out of the row before the row becomes JSON, which would have to contain the whole value.
function move({ table, large, unlessNull }: KeptTable, { using, where, keys, added }: Move): FragmentSqlToken {
  const from = using === null ? sql.fragment`` : sql.fragment`USING ${using}`
  const value = (type: LargeType) =>
    large?.type === type ? sql.identifier(['t', large.column]) : sql.fragment`NULL::${sql.identifier([type])}`
  const shown =
    large === undefined
      ? sql.fragment`to_jsonb(t) ${added === undefined ? sql.fragment`` : sql.fragment`|| ${added}`}`
      : sql.fragment`to_jsonb(jsonb_populate_record(t, ${JSON.stringify({ [large.column]: null })}::jsonb))`
  const isKept =
    unlessNull === undefined ? sql.fragment`` : sql.fragment`AND ${sql.identifier(['t', unlessNull])} IS NOT NULL`
  return sql.fragment`
    (DELETE FROM ${sql.identifier([table])} t ${from} WHERE ${where} ${isKept}
     RETURNING ${table}::text, ${keys}, ${shown}, ${value('text')}, ${value('bytea')}, ${value('jsonb')})`
}

type Keeping = { workspaceId: string; moves: readonly FragmentSqlToken[]; scope: FragmentSqlToken | null }

const keptColumns = sql.fragment`
  table_name, entry_id, document_id, other_document_id, row, large_text, large_bytes, large_json`

// One statement deletes from all tables. PostgreSQL fires triggers and checks foreign keys when all of it is done.
async function keep(tx: Transaction, { workspaceId, moves, scope }: Keeping): Promise<void> {
  const name = (index: number) => sql.identifier([`moved_${index}`])
  const named = moves.map((moved, index) => sql.fragment`${name(index)} (${keptColumns}) AS ${moved}`)
  const all = moves.map((_, index) => sql.fragment`SELECT * FROM ${name(index)}`)
  await tx.query(
    prepared(sql.unsafe`
    WITH ${sql.join(scope === null ? named : [scope, ...named], sql.fragment`, `)}
    INSERT INTO trash_rows (workspace_id, ${keptColumns})
    SELECT ${workspaceId}, moved.* FROM (${sql.join(all, sql.fragment` UNION ALL `)}) AS moved`),
  )
}
