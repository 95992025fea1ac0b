import { type Queryable, sql } from '../database/database.ts'
import type { SortOrder } from './order.ts'
import { documentColumns, folderColumns, NodeRow, nodeOrders } from './tree.ts'

/** The number of characters of a label that a cursor keeps. */
const labelStartLength = 40

/**
 * The position of the last child that a reader has seen. Labels are too long for a cursor, so the position keeps only
 * the beginning of the label. While the child still has such a label, the next page starts after its whole label.
 * Otherwise the next page starts at `labelStart`, so that no child is skipped. In the manual order the next page starts
 * after the key that the child has by then.
 */
export type ChildPosition = {
  rank: number
  labelStart: string
  folderNumber: number
  documentId: string
  /** The last change in Unix milliseconds. */
  changedAt: number
  /** The key in the manual order; empty for a child that was never placed. */
  orderKey: string
}

/** Returns the position after a child, for the next page. */
export function positionOf(row: NodeRow): ChildPosition {
  return {
    rank: row.rank,
    labelStart: [...row.label].slice(0, labelStartLength).join(''),
    folderNumber: row.folder_number,
    documentId: row.document_id,
    changedAt: row.changed_at,
    orderKey: row.order_key ?? '',
  }
}

/** A page of the direct children of a folder, after a position. */
type ChildPage = { workspaceId: string; folderId: number; after: ChildPosition | null; limit: number; sort: SortOrder }

/** Returns up to `limit + 1` direct children of a folder after a position, so that the caller sees if more follow. */
export function childPage(db: Queryable, page: ChildPage): Promise<readonly NodeRow[]> {
  const foldersAreBehind = page.after !== null && page.after.rank > 0
  const kinds = [...(foldersAreBehind ? [] : folderPages(page)), ...documentPages(page)]
  return db.any(sql.type(NodeRow)`
    SELECT * FROM (${sql.join(kinds, sql.fragment` UNION ALL `)}) AS children
    ORDER BY ${nodeOrders[page.sort]} LIMIT ${page.limit + 1}`)
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
     WHERE workspace_id = ${page.workspaceId} AND parent_id = ${page.folderId} AND ${isAfter}
     ORDER BY ${order} LIMIT ${page.limit + 1})`,
  )
}

// A page of ids is read from a table that has an index in the order of the list. By name and in the manual order that
// is `document_titles`. The `OFFSET 0` makes PostgreSQL look up each id. For a thousand ids it would rather read all
// documents of the workspace.
function documentPages(page: ChildPage): Fragment[] {
  const { workspaceId, folderId, after, limit, sort } = page
  const table =
    sort === 'updated_at'
      ? { name: 'documents', id: 'id', label: 'title', parent: 'folder_id' }
      : { name: 'document_titles', id: 'document_id', label: 'title', parent: 'folder_id' }
  return runsOf(page, table, after === null || after.rank === 0 ? null : after.documentId).map(
    ({ isAfter, order }) => sql.fragment`
    (SELECT ${documentColumns} FROM (
       SELECT ${sql.identifier([table.id])} AS listed_id FROM ${sql.identifier([table.name])}
       WHERE workspace_id = ${workspaceId} AND folder_id = ${folderId} AND ${isAfter}
       ORDER BY ${order} LIMIT ${limit + 1}
     ) AS listed
     CROSS JOIN LATERAL (
       SELECT * FROM documents WHERE workspace_id = ${workspaceId} AND id = listed.listed_id OFFSET 0
     ) AS found)`,
  )
}

// The runs of one kind of children in which the rest of the list is read. `after` is the id of the last child of this
// kind; null for the beginning of the kind.
function runsOf(page: ChildPage, table: Table, after: number | string | null): Run[] {
  const column = (name: string) => sql.identifier([name])
  const id = column(table.id)
  const label = column(table.label)
  const seen = after === null ? null : page.after
  // A value that the last child has by now, if it is still among the children.
  const current = (value: Fragment, still: Fragment) => sql.fragment`(
    SELECT ${value} FROM ${column(table.name)} WHERE workspace_id = ${page.workspaceId}
      AND ${column(table.parent)} = ${page.folderId} AND ${id} = ${after} AND ${still})`
  const afterLabel = ({ labelStart }: ChildPosition) => sql.fragment`
    (${label} COLLATE "C", ${id}) > (coalesce(${current(
      sql.fragment`${label}`,
      sql.fragment`left(${label}, ${labelStartLength}::int) = ${labelStart}`,
    )}, ${labelStart}), ${after})`
  const all = sql.fragment`true`
  const byLabel = sql.fragment`${label} COLLATE "C", ${id}`
  if (page.sort === 'name') return [{ isAfter: seen === null ? all : afterLabel(seen), order: byLabel }]
  if (page.sort === 'updated_at') {
    const isAfter =
      seen === null
        ? all
        : sql.fragment`(updated_at, ${id}) < (to_timestamp(${seen.changedAt}::float8 / 1000)::timestamptz(3), ${after})`
    return [{ isAfter, order: sql.fragment`updated_at DESC, ${id} DESC` }]
  }
  const isPlaced = sql.fragment`order_key IS NOT NULL`
  const placed = {
    isAfter:
      seen === null
        ? isPlaced
        : sql.fragment`${isPlaced} AND (order_key, ${id}) > (coalesce(${current(
            sql.fragment`order_key`,
            all,
          )}, ${seen.orderKey}), ${after})`,
    order: sql.fragment`order_key, ${id}`,
  }
  const unplaced = (isAfter: Fragment) => ({
    isAfter: sql.fragment`order_key IS NULL AND ${isAfter}`,
    order: byLabel,
  })
  if (seen === null || seen.orderKey !== '') return [placed, unplaced(all)]
  return [unplaced(afterLabel(seen))]
}
