import Type, { type Static } from 'typebox'
import { type Queryable, sql } from '../database/database.ts'
import { row } from '../database/row.ts'
import { Nullable } from '../schema/identifiers.ts'
import type { SortOrder } from './order.ts'
import { documentColumns, folderColumns, NodeShape, nodeOrders } from './tree.ts'

/** The number of characters of a label that a cursor keeps. In the manual order a key takes up some of the room. */
const labelStartLengths = { name: 40, updated_at: 0, manual: 20 } satisfies Record<SortOrder, number>

/**
 * The position of the last child that a reader has seen. Labels are too long for a cursor, so the position keeps only
 * the beginning of the label. While the child still has such a label, the next page starts after its whole label.
 * Otherwise the next page starts at `labelStart`, so that no child is skipped.
 *
 * In the manual order, too, no child is skipped that stays where it is. After a child that has a key, the next page
 * starts after the lower of two keys: the key that the child had then and the key that it has by now. After a child
 * without a key, the next page begins with the children that were placed at the end of the list since then. So children
 * may come twice when the order changes between two pages.
 */
export type ChildPosition = {
  rank: number
  labelStart: string
  folderNumber: number
  documentId: string
  /** The last change in Unix milliseconds. */
  changedAt: number
  /** 1 for a child that has a key in the manual order, 0 for a child that was never placed. */
  placed: number
  /** The key of the child or, if it was never placed, the highest key among the children; empty when there is none. */
  orderKey: string
}

const ChildShape = Type.Object({ ...NodeShape.properties, highest_key: Nullable(Type.String()) })
const ChildRow = row(ChildShape)

/**
 * A folder or document of a list, as the database returns it. In the manual order, `highest_key` is the highest key of
 * its kind in the list.
 */
export type ChildRow = Static<typeof ChildShape>

/** Returns the position after a child in a list, for the next page. */
export function positionOf(child: ChildRow, sort: SortOrder): ChildPosition {
  const isPlaced = sort === 'manual' && child.order_key !== null
  return {
    rank: child.rank,
    labelStart: isPlaced ? '' : [...child.label].slice(0, labelStartLengths[sort]).join(''),
    folderNumber: child.folder_number,
    documentId: child.document_id,
    changedAt: child.changed_at,
    placed: isPlaced ? 1 : 0,
    orderKey: child.order_key ?? child.highest_key ?? '',
  }
}

/** A folder, or the root of a knowledge base for `folderId` null, with the key of the knowledge base. */
type Parent = { workspaceId: string; knowledgeBaseId: number; folderId: number | null }

/** A page of the direct children of a folder or of the root of a knowledge base, after a position. */
type ChildPage = Parent & { after: ChildPosition | null; limit: number; sort: SortOrder }

/**
 * Returns up to `limit + 1` direct children after a position, so that the caller sees if more follow. At the root of a
 * knowledge base only the manual order has indexes; another order reads all children of the root.
 */
export function childPage(db: Queryable, page: ChildPage): Promise<readonly ChildRow[]> {
  const foldersAreBehind = page.after !== null && page.after.rank > 0
  const kinds = [...(foldersAreBehind ? [] : folderPages(page)), ...documentPages(page)]
  return db.any(sql.type(ChildRow)`
    SELECT children.*, ${highestKey(page)} AS highest_key
    FROM (${sql.join(kinds, sql.fragment` UNION ALL `)}) AS children
    ORDER BY ${nodeOrders[page.sort]} LIMIT ${page.limit + 1}`)
}

function highestKey(page: ChildPage): Fragment {
  if (page.sort !== 'manual') return sql.fragment`NULL`
  const placed = sql.fragment`order_key IS NOT NULL`
  return sql.fragment`
    CASE rank
      WHEN 0 THEN (SELECT max(order_key) FROM folders WHERE ${isChild(page, 'parent_id')} AND ${placed})
      ELSE (SELECT max(order_key) FROM document_order WHERE ${isChild(page, 'folder_id')} AND ${placed})
    END`
}

// The condition that a row is a child of the parent. `column` names the folder of the row.
function isChild({ workspaceId, knowledgeBaseId, folderId }: Parent, column: string): Fragment {
  const folder = sql.identifier([column])
  return folderId === null
    ? sql.fragment`workspace_id = ${workspaceId} AND knowledge_base_id = ${knowledgeBaseId} AND ${folder} IS NULL`
    : sql.fragment`workspace_id = ${workspaceId} AND ${folder} = ${folderId}`
}

type Fragment = ReturnType<typeof sql.fragment>

/** A table of children with the names of its columns. */
type Table = { name: string; id: string; label: string; parent: string }

/** A run of children in an order that an index has; `isAfter` is true for the children after the position. */
type Run = { isAfter: Fragment; order: Fragment }

function folderPages(page: ChildPage): Fragment[] {
  const table = { name: 'folders', id: 'id', label: 'name', parent: 'parent_id' }
  return runsOf(page, table, page.after?.folderNumber ?? null).map(
    ({ isAfter, order }) => sql.fragment`
    (SELECT ${folderColumns} FROM folders
     WHERE ${isChild(page, table.parent)} AND ${isAfter}
     ORDER BY ${order} LIMIT ${page.limit + 1})`,
  )
}

// A page of ids is read from a table that has an index in the order of the list. The `OFFSET 0` makes PostgreSQL look
// up each id. For a thousand ids it would rather read all documents of the workspace.
function documentPages(page: ChildPage): Fragment[] {
  const { workspaceId, after, limit, sort } = page
  const table = documentTables[sort]
  const key = sort === 'manual' ? sql.fragment`order_key` : sql.fragment`NULL::text COLLATE "C" AS order_key`
  return runsOf(page, table, after === null || after.rank === 0 ? null : after.documentId).map(
    ({ isAfter, order }) => sql.fragment`
    (SELECT ${documentColumns} FROM (
       SELECT ${sql.identifier([table.id])} AS listed_id, ${key} FROM ${sql.identifier([table.name])}
       WHERE ${isChild(page, table.parent)} AND ${isAfter}
       ORDER BY ${order} LIMIT ${limit + 1}
     ) AS listed
     CROSS JOIN LATERAL (
       SELECT * FROM documents WHERE workspace_id = ${workspaceId} AND id = listed.listed_id OFFSET 0
     ) AS found)`,
  )
}

// The table whose index has the documents of a folder in each order.
const documentTables = {
  name: { name: 'document_titles', id: 'document_id', label: 'title', parent: 'folder_id' },
  updated_at: { name: 'documents', id: 'id', label: 'title', parent: 'folder_id' },
  manual: { name: 'document_order', id: 'document_id', label: 'title', parent: 'folder_id' },
} satisfies Record<SortOrder, Table>

// The runs of one kind of children in which the rest of the list is read. `after` is the id of the last child of this
// kind; null for the beginning of the kind.
function runsOf(page: ChildPage, table: Table, after: number | string | null): Run[] {
  // Each column has the name of its table before it. Otherwise `ORDER BY` would mean a result column of that name.
  const column = (name: string) => sql.identifier([table.name, name])
  const id = column(table.id)
  const label = column(table.label)
  const changedAt = column('updated_at')
  const orderKey = column('order_key')
  const seen = after === null ? null : page.after
  // A value that the last child has by now, if it is still among the children.
  const current = (value: Fragment, still: Fragment) => sql.fragment`(
    SELECT ${value} FROM ${sql.identifier([table.name])}
    WHERE ${isChild(page, table.parent)} AND ${id} = ${after} AND ${still})`
  const afterLabel = ({ labelStart }: ChildPosition) => sql.fragment`
    (${label} COLLATE "C", ${id}) > (coalesce(${current(
      sql.fragment`${label}`,
      sql.fragment`left(${label}, ${labelStartLengths[page.sort]}::int) = ${labelStart}`,
    )}, ${labelStart}), ${after})`
  const all = sql.fragment`true`
  const byLabel = sql.fragment`${label} COLLATE "C", ${id}`
  if (page.sort === 'name') return [{ isAfter: seen === null ? all : afterLabel(seen), order: byLabel }]
  if (page.sort === 'updated_at') {
    const seenAt = sql.fragment`to_timestamp(${seen?.changedAt ?? 0}::float8 / 1000)::timestamptz(3)`
    const isAfter = seen === null ? all : sql.fragment`(${changedAt}, ${id}) < (${seenAt}, ${after})`
    return [{ isAfter, order: sql.fragment`${changedAt} DESC, ${id} DESC` }]
  }
  const currentKey = current(sql.fragment`${orderKey}`, all)
  const placed = (isAfter: Fragment) => ({
    isAfter: sql.fragment`${orderKey} IS NOT NULL AND ${isAfter}`,
    order: sql.fragment`${orderKey}, ${id}`,
  })
  const unplaced = (isAfter: Fragment) => ({
    isAfter: sql.fragment`${orderKey} IS NULL AND ${isAfter}`,
    order: byLabel,
  })
  if (seen === null) return [placed(all), unplaced(all)]
  const afterKey = (key: Fragment) => sql.fragment`(${orderKey}, ${id}) > (${key}, ${after})`
  if (seen.placed === 1) {
    return [placed(afterKey(sql.fragment`least(${seen.orderKey}, ${currentKey})`)), unplaced(all)]
  }
  return [placed(sql.fragment`${orderKey} > ${seen.orderKey}`), unplaced(afterLabel(seen))]
}
