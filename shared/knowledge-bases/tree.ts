import Type, { type Static } from 'typebox'
import { type Queryable, sql } from '../database/database.ts'
import { row } from '../database/row.ts'
import { Nullable } from '../schema/identifiers.ts'
import type { KnowledgeBaseKey } from './queries.ts'
import type { DocumentNode, FolderNode, TreeFolder, TreeNode } from './schema.ts'

const text = Type.String()

/** The number of characters of a label that a cursor keeps. */
const labelStartLength = 40

// A folder or document in the columns of their common sort order. `rank` is 0 for a folder and 1 for a document.
// `label` is the name or title. A column that only documents have is '' or null in a folder; `folder_number` is 0 in a
// document.
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

/** A folder or document of a tree, as the database returns it. */
export type NodeRow = Static<typeof NodeShape>

// Labels are compared by code point, so that the order is the same on every server.
const folderColumns = sql.fragment`
  0 AS rank, name COLLATE "C" AS label, id AS folder_number, '' COLLATE "C" AS document_id, parent_id,
  NULL AS document_type, NULL AS locale, NULL AS variant_role, NULL AS document_set_id, NULL::timestamptz AS updated_at`
const documentColumns = sql.fragment`
  1 AS rank, title COLLATE "C" AS label, 0 AS folder_number, id AS document_id, folder_id AS parent_id,
  document_type, locale, variant_role, document_set_id, updated_at`
const sortOrder = sql.fragment`rank, label, folder_number, document_id`

/** Returns every folder and document of a knowledge base, translations included, in their sort order. */
export function nodesOfKnowledgeBase(db: Queryable, key: KnowledgeBaseKey): Promise<readonly NodeRow[]> {
  return db.any(sql.type(NodeRow)`
    SELECT ${folderColumns} FROM folders
    WHERE workspace_id = ${key.workspaceId} AND knowledge_base_id = ${key.id}
    UNION ALL
    SELECT ${documentColumns} FROM documents
    WHERE workspace_id = ${key.workspaceId} AND knowledge_base_id = ${key.id}
    ORDER BY ${sortOrder}`)
}

const BranchRow = row(
  Type.Object({
    id: Nullable(Type.Number()),
    parent_id: Nullable(Type.Number()),
    name: Nullable(text),
    documents: Nullable(text),
  }),
)

/**
 * Returns the children of the root of a knowledge base with all that is below them, as the JSON text of an array of
 * `TreeNode`. PostgreSQL writes the documents of each folder as JSON: a large tree costs no object for each document.
 */
export async function treeText(db: Queryable, key: KnowledgeBaseKey): Promise<string> {
  const branches = await db.any(sql.type(BranchRow)`
    SELECT id, parent_id, name COLLATE "C" AS name, NULL AS documents FROM folders
    WHERE workspace_id = ${key.workspaceId} AND knowledge_base_id = ${key.id}
    UNION ALL
    SELECT NULL, folder_id, NULL, string_agg(row_to_json(n)::text, ',' ORDER BY title COLLATE "C", id) FROM (
      SELECT 'document' AS type, id, title, document_type, folder_id, locale, variant_role, document_set_id,
        (extract(epoch FROM updated_at) * 1000)::int8 AS updated_at
      FROM documents WHERE workspace_id = ${key.workspaceId} AND knowledge_base_id = ${key.id}
    ) AS n GROUP BY folder_id
    ORDER BY name NULLS LAST, id`)
  const children = Map.groupBy(branches, ({ parent_id }) => parent_id)
  const textOf = (folderId: number | null): string => {
    const texts = (children.get(folderId) ?? []).map(({ id, parent_id, name, documents }) => {
      if (id === null) return documents
      const folder = JSON.stringify({ type: 'folder', id, name, parent_id } satisfies {
        [name in keyof FolderNode]: unknown
      })
      return `${folder.slice(0, -1)},"children":${textOf(id)}}`
    })
    return `[${texts.join()}]`
  }
  return textOf(null)
}

/**
 * The position of the last child that a reader has seen. Labels are too long for a cursor, so the position keeps only
 * the beginning of the label. While the child still has such a label, the next page starts after its whole label.
 * Otherwise the next page starts at `labelStart`, so that no child is skipped.
 */
export type ChildPosition = { rank: number; labelStart: string; folderNumber: number; documentId: string }

/** Returns up to `limit + 1` direct children of a folder after a position, so that the caller sees if more follow. */
export function childPage(
  db: Queryable,
  page: { workspaceId: string; folderId: number; after: ChildPosition | null; limit: number },
): Promise<readonly NodeRow[]> {
  const foldersAreBehind = page.after !== null && page.after.rank > 0
  const kinds = [...(foldersAreBehind ? [] : [folderPage(page)]), documentPage(page)]
  return db.any(sql.type(NodeRow)`
    SELECT * FROM (${sql.join(kinds, sql.fragment` UNION ALL `)}) AS children
    ORDER BY ${sortOrder} LIMIT ${page.limit + 1}`)
}

type ChildPage = Parameters<typeof childPage>[1]

function folderPage({ workspaceId, folderId, after, limit }: ChildPage) {
  const inFolder = sql.fragment`workspace_id = ${workspaceId} AND parent_id = ${folderId}`
  const isAfter =
    after === null
      ? sql.fragment`true`
      : sql.fragment`(name COLLATE "C", id) > (coalesce((
          SELECT name FROM folders
          WHERE ${inFolder} AND id = ${after.folderNumber} AND left(name, ${labelStartLength}::int) = ${after.labelStart}
        ), ${after.labelStart}), ${after.folderNumber})`
  return sql.fragment`
    (SELECT ${folderColumns} FROM folders WHERE ${inFolder} AND ${isAfter}
     ORDER BY name COLLATE "C", id LIMIT ${limit + 1})`
}

// A page of ids is read from `document_titles`, which has an index in the order of titles. `documents` has none. The
// `OFFSET 0` makes PostgreSQL look up each id. For a thousand ids it would rather read all documents of the workspace.
function documentPage({ workspaceId, folderId, after, limit }: ChildPage) {
  const inFolder = sql.fragment`workspace_id = ${workspaceId} AND folder_id = ${folderId}`
  const isAfter =
    after === null || after.rank === 0
      ? sql.fragment`true`
      : sql.fragment`(title COLLATE "C", document_id) > (coalesce((
          SELECT title FROM documents
          WHERE ${inFolder} AND id = ${after.documentId} AND left(title, ${labelStartLength}::int) = ${after.labelStart}
        ), ${after.labelStart}), ${after.documentId})`
  return sql.fragment`
    (SELECT ${documentColumns} FROM (
       SELECT document_id FROM document_titles WHERE ${inFolder} AND ${isAfter}
       ORDER BY title COLLATE "C", document_id LIMIT ${limit + 1}
     ) AS listed
     CROSS JOIN LATERAL (
       SELECT * FROM documents WHERE workspace_id = ${workspaceId} AND id = listed.document_id OFFSET 0
     ) AS found)`
}

/** Returns the position after a child, for the next page. */
export function positionOf(row: NodeRow): ChildPosition {
  const labelStart = [...row.label].slice(0, labelStartLength).join('')
  return { rank: row.rank, labelStart, folderNumber: row.folder_number, documentId: row.document_id }
}

/** Nests the rows of one knowledge base and keeps their order. Rows without a parent are at the root. */
export function nest(rows: readonly NodeRow[]): TreeNode[] {
  const nodes = rows.map(treeNode)
  const folders = new Map(nodes.filter((node) => node.type === 'folder').map((folder) => [folder.id, folder]))
  const root: TreeNode[] = []
  for (const node of nodes) {
    const parentId = node.type === 'folder' ? node.parent_id : node.folder_id
    const siblings = parentId === null ? root : folders.get(parentId)?.children
    siblings?.push(node)
  }
  return root
}

function treeNode(row: NodeRow): TreeNode {
  const node = presentNode(row)
  return node.type === 'folder' ? ({ ...node, children: [] } satisfies TreeFolder) : node
}

/** Returns a row in the shape of the API. */
export function presentNode(row: NodeRow): FolderNode | DocumentNode {
  const { document_type, updated_at } = row
  if (document_type === null || updated_at === null) {
    return { type: 'folder', id: row.folder_number, name: row.label, parent_id: row.parent_id }
  }
  return {
    type: 'document',
    id: row.document_id,
    title: row.label,
    document_type,
    folder_id: row.parent_id,
    locale: row.locale,
    variant_role: row.variant_role,
    document_set_id: row.document_set_id,
    updated_at,
  }
}
