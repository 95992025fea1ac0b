import Type, { type Static } from 'typebox'
import { type Queryable, sql } from '../database/database.ts'
import { row } from '../database/row.ts'
import { Nullable } from '../schema/identifiers.ts'
import type { SortOrder } from './order.ts'
import type { KnowledgeBaseKey } from './queries.ts'
import type { DocumentNode, FolderNode, TreeFolder, TreeNode } from './schema.ts'

const text = Type.String()

/**
 * A folder or document in the columns of their common sort order. `rank` is 0 for a folder and 1 for a document.
 * `label` is the name or title. A column that only documents have is '' or null in a folder; `folder_number` is 0 in a
 * document. `changed_at` is the last change of either.
 */
export const NodeShape = Type.Object({
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
  changed_at: Type.Number(),
  order_key: Nullable(text),
})
/** The schema of a row with `folderColumns` or `documentColumns`. */
export const NodeRow = row(NodeShape)

/** A folder or document of a tree, as the database returns it. */
export type NodeRow = Static<typeof NodeShape>

/** The columns of `NodeRow` from `folders`. Labels are compared by code point, in the same order on every server. */
export const folderColumns = sql.fragment`
  0 AS rank, name COLLATE "C" AS label, id AS folder_number, '' COLLATE "C" AS document_id, parent_id,
  NULL AS document_type, NULL AS locale, NULL AS variant_role, NULL AS document_set_id,
  NULL::timestamptz AS updated_at, updated_at AS changed_at, order_key`

/** The columns of `NodeRow` from `documents`, and `order_key` from what the statement joins. */
export const documentColumns = sql.fragment`
  1 AS rank, title COLLATE "C" AS label, 0 AS folder_number, id AS document_id, folder_id AS parent_id,
  document_type, locale, variant_role, document_set_id, updated_at, updated_at AS changed_at, order_key`

/** The orders of a list of `NodeRow`. */
export const nodeOrders = {
  name: sql.fragment`rank, label, folder_number, document_id`,
  updated_at: sql.fragment`rank, changed_at DESC, folder_number DESC, document_id DESC`,
  manual: sql.fragment`
    rank, order_key, CASE WHEN order_key IS NULL THEN label END, folder_number, document_id`,
} satisfies Record<SortOrder, unknown>

// The same orders for the folders `f` and the documents `d` of a tree.
const treeOrders = {
  name: { folders: sql.fragment`f.name COLLATE "C", f.id`, documents: sql.fragment`d.title COLLATE "C", d.id` },
  updated_at: {
    folders: sql.fragment`f.updated_at DESC, f.id DESC`,
    documents: sql.fragment`d.updated_at DESC, d.id DESC`,
  },
  manual: {
    folders: sql.fragment`f.order_key, (CASE WHEN f.order_key IS NULL THEN f.name END) COLLATE "C", f.id`,
    documents: sql.fragment`o.order_key, (CASE WHEN o.order_key IS NULL THEN d.title END) COLLATE "C", d.id`,
  },
} satisfies Record<SortOrder, unknown>

/** Returns every folder and document of a knowledge base, translations included, in the given order. */
export function nodesOfKnowledgeBase(
  db: Queryable,
  { sort, ...key }: KnowledgeBaseKey & { sort: SortOrder },
): Promise<readonly NodeRow[]> {
  return db.any(sql.type(NodeRow)`
    SELECT * FROM (
      SELECT ${folderColumns} FROM folders
      WHERE workspace_id = ${key.workspaceId} AND knowledge_base_id = ${key.id}
      UNION ALL
      SELECT ${documentColumns} FROM documents
      LEFT JOIN (${orderKeys(key, sort)}) AS o ON o.placed_id = id
      WHERE workspace_id = ${key.workspaceId} AND knowledge_base_id = ${key.id}
    ) AS nodes ORDER BY ${nodeOrders[sort]}`)
}

// The keys of all placed documents of a knowledge base. Only the manual order reads them.
function orderKeys({ workspaceId, id }: KnowledgeBaseKey, sort: SortOrder) {
  return sql.fragment`
    SELECT document_id AS placed_id, order_key FROM document_order
    WHERE ${sort === 'manual'} AND workspace_id = ${workspaceId} AND knowledge_base_id = ${id}
      AND order_key IS NOT NULL`
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
export async function treeText(
  db: Queryable,
  { sort, ...key }: KnowledgeBaseKey & { sort: SortOrder },
): Promise<string> {
  const order = treeOrders[sort]
  const branches = await db.any(sql.type(BranchRow)`
    SELECT id, parent_id, name, documents FROM (
      SELECT f.id, f.parent_id, f.name, NULL AS documents, row_number() OVER (ORDER BY ${order.folders}) AS place
      FROM folders f WHERE f.workspace_id = ${key.workspaceId} AND f.knowledge_base_id = ${key.id}
      UNION ALL
      SELECT NULL, d.folder_id, NULL, string_agg(row_to_json(n)::text, ',' ORDER BY ${order.documents}), NULL
      FROM documents d
      CROSS JOIN LATERAL (
        SELECT 'document' AS type, d.id, d.title, d.document_type, d.folder_id, d.locale, d.variant_role,
          d.document_set_id, (extract(epoch FROM d.updated_at) * 1000)::int8 AS updated_at
      ) AS n
      LEFT JOIN (${orderKeys(key, sort)}) AS o ON o.placed_id = d.id
      WHERE d.workspace_id = ${key.workspaceId} AND d.knowledge_base_id = ${key.id} GROUP BY d.folder_id
    ) AS branches ORDER BY place NULLS LAST`)
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
