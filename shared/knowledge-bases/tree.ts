import Type, { type Static } from 'typebox'
import { type Queryable, sql } from '../database/database.ts'
import { row } from '../database/row.ts'
import { Nullable } from '../schema/identifiers.ts'
import type { KnowledgeBaseKey } from './queries.ts'

const text = Type.String()

/**
 * A folder or document in the columns of their common sort order: `rank` 0 is a folder, 1 a document, `label` its name
 * or title. The columns that only the other kind has are 0, '' or null.
 */
const NodeShape = Type.Object({
  rank: Type.Number(),
  label: text,
  folder_number: Type.Number(),
  document_id: text,
  parent_id: Nullable(Type.Number()),
  document_type: Nullable(Type.Enum(['document', 'spreadsheet'])),
  locale: Nullable(text),
  variant_role: Nullable(Type.Enum(['source', 'translation'])),
  document_set_id: Nullable(text),
  updated_at: Nullable(Type.Number()),
})
const NodeRow = row(NodeShape)
export type NodeRow = Static<typeof NodeShape>

// Labels are compared by code point, so that the order is the same on every server.
const folderColumns = sql.fragment`
  0 AS rank, name COLLATE "C" AS label, id AS folder_number, '' COLLATE "C" AS document_id, parent_id,
  NULL AS document_type, NULL AS locale, NULL AS variant_role, NULL AS document_set_id, NULL::timestamptz AS updated_at`
const documentColumns = sql.fragment`
  1, title, 0, id, folder_id, document_type, locale, variant_role, document_set_id, updated_at`
const sortOrder = sql.fragment`rank, label, folder_number, document_id`

/** Every folder and document of a knowledge base, variants included. */
export function nodesOfKnowledgeBase(db: Queryable, key: KnowledgeBaseKey): Promise<readonly NodeRow[]> {
  return db.any(sql.type(NodeRow)`
    SELECT ${folderColumns} FROM folders
    WHERE workspace_id = ${key.workspaceId} AND knowledge_base_id = ${key.id}
    UNION ALL
    SELECT ${documentColumns} FROM documents
    WHERE workspace_id = ${key.workspaceId} AND knowledge_base_id = ${key.id}
    ORDER BY ${sortOrder}`)
}

/**
 * The last child seen. Labels are too long for a cursor, so it holds their beginning: while the child still bears it,
 * the child's whole label is the position; otherwise the page starts at the beginning, so that nothing is skipped.
 */
export type ChildPosition = { rank: number; labelStart: string; folderNumber: number; documentId: string }

/** How many characters of a label a position holds. */
export const labelStartLength = 40

/** Direct children of a folder, with one more than `limit` when there are more. */
export function childPage(
  db: Queryable,
  page: { workspaceId: string; folderId: number; after: ChildPosition | null; limit: number },
): Promise<readonly NodeRow[]> {
  return db.any(sql.type(NodeRow)`
    WITH children AS (
      SELECT ${folderColumns} FROM folders
      WHERE workspace_id = ${page.workspaceId} AND parent_id = ${page.folderId}
      UNION ALL
      SELECT ${documentColumns} FROM documents
      WHERE workspace_id = ${page.workspaceId} AND folder_id = ${page.folderId}
    )
    SELECT * FROM children WHERE ${isBehind(page.after)}
    ORDER BY ${sortOrder} LIMIT ${page.limit + 1}`)
}

function isBehind(after: ChildPosition | null) {
  if (after === null) return sql.fragment`true`
  const { rank, labelStart, folderNumber, documentId } = after
  return sql.fragment`
    (${sortOrder}) > (
      ${rank}::int8,
      coalesce((
        SELECT s.label FROM children s
        WHERE s.rank = ${rank}::int8 AND s.folder_number = ${folderNumber}::int8 AND s.document_id = ${documentId}
          AND left(s.label, ${labelStartLength}::int) = ${labelStart}
      ), ${labelStart}),
      ${folderNumber}::int8,
      ${documentId})`
}
