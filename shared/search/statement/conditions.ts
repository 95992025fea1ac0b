import { sql } from '../../database/database.ts'
import type { SearchScope } from './request.ts'

/** A part of an SQL statement, with the values of its parameters. */
export type Fragment = ReturnType<typeof sql.fragment>

/**
 * The condition that a column is a workspace in scope, in a form for which PostgreSQL does not use an index. PostgreSQL
 * would use the index for a small workspace, although the words of the query are rarer still.
 */
export function amongWorkspaces(column: Fragment, { workspaceIds }: Pick<SearchScope, 'workspaceIds'>) {
  return sql.fragment`array_position(${sql.array([...workspaceIds], 'text')}, ${column}) IS NOT NULL`
}

/**
 * The condition that a column names one of the workspaces in scope, whose values the planner does not see. For a single
 * workspace it is an equality, so that PostgreSQL can read an index that begins with the workspace.
 */
export function inWorkspacesOf({ workspaceIds }: Pick<SearchScope, 'workspaceIds'>, column: Fragment): Fragment {
  const [only, ...others] = workspaceIds
  if (only !== undefined && others.length === 0) return sql.fragment`${column} = ${hidden(only, 'text')}`
  return sql.fragment`${column} = ANY((SELECT ${sql.array([...workspaceIds], 'text')})::text[])`
}

/** The condition that the index `s` of a document `d` was made from the present version and title. */
export const isFresh = sql.fragment`
  s.source_version = d.version AND s.title = d.title
  AND NOT EXISTS (
    SELECT FROM stale_projections p
    WHERE p.workspace_id = d.workspace_id AND p.projection = 'search' AND p.document_id = d.id)`

/**
 * A value that the planner does not see. So PostgreSQL neither makes a plan for the value nor reads the statistics of
 * all lexemes for it. `keepsPlan` in statement.ts says which plans are kept.
 */
export function hidden(value: string | number | null, type: 'tsquery' | 'int8' | 'text' | 'milliseconds') {
  if (type === 'tsquery') return sql.fragment`(SELECT ${value}::tsquery)`
  if (type === 'milliseconds') return sql.fragment`(SELECT to_timestamp(${value}::float8 / 1000)::timestamptz(3))`
  return type === 'int8' ? sql.fragment`(SELECT ${value}::int8)` : sql.fragment`(SELECT ${value}::text)`
}
