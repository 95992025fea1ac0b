import { sql } from './database.ts'

/** A part of an SQL statement, with the values of its parameters. */
type Fragment = ReturnType<typeof sql.fragment>

/**
 * The condition that a column names one of the workspaces. For a single workspace it is an equality. So PostgreSQL can
 * read an index that begins with the workspace in the order of the next column.
 */
export function inWorkspaces(column: Fragment, workspaceIds: readonly string[]): Fragment {
  const [only, ...others] = workspaceIds
  if (only !== undefined && others.length === 0) return sql.fragment`${column} = ${only}`
  return sql.fragment`${column} = ANY(${sql.array([...workspaceIds], 'text')})`
}

/**
 * A statement for one page of a list over several workspaces. `pageOf` makes the statement of one workspace, in order
 * and at most `limit` rows long; `order` names columns of `page`. Each workspace is read through its own index, and
 * only these pages are merged. `isRead` may say which workspaces are read at all; it names `workspace.id`.
 */
export function mergedPage(input: {
  workspaceIds: readonly string[]
  pageOf: (workspaceId: Fragment) => Fragment
  order: Fragment
  limit: number
  isRead?: Fragment
}): Fragment {
  const { workspaceIds, pageOf, order, limit, isRead = sql.fragment`true` } = input
  const [only, ...others] = workspaceIds
  if (only !== undefined && others.length === 0) return pageOf(sql.fragment`${only}`)
  return sql.fragment`
    SELECT page.* FROM unnest(${sql.array([...workspaceIds], 'text')}) AS workspace (id)
    CROSS JOIN LATERAL (${pageOf(sql.fragment`workspace.id`)}) AS page
    WHERE ${isRead} ORDER BY ${order} LIMIT ${limit}`
}
