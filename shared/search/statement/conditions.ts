import { sql } from '../../database/database.ts'
import type { SearchScope } from './request.ts'

/** The condition under which a document `d` of the workspaces of a scope is in it (sql/0024). */
export function isIncluded({ locale, knowledgeBaseId }: SearchScope) {
  const exact = typeof locale === 'object' ? locale.exact : null
  return sql.fragment`search_includes(d, ${knowledgeBaseId ?? null}, ${exact}, ${locale !== 'default'})`
}

/** That a column is one of the workspaces in scope; equality where there is one, by which indexes keep their order. */
export function inWorkspaces(column: Fragment, { workspaceIds }: SearchScope) {
  const [only, ...others] = workspaceIds
  if (only !== undefined && others.length === 0) return sql.fragment`${column} = ${only}`
  return sql.fragment`${column} = ANY(${sql.array([...workspaceIds], 'text')})`
}

/**
 * That a column is one of the workspaces in scope, where an index of workspaces is not to be asked: it would be for a
 * small one, while the words of a query are rarer still.
 */
export function amongWorkspaces(column: Fragment, { workspaceIds }: SearchScope) {
  return sql.fragment`array_position(${sql.array([...workspaceIds], 'text')}, ${column}) IS NOT NULL`
}

/** That a document `d` is indexed, in `s`, as it stands. */
export const isFresh = sql.fragment`
  s.source_version = d.version AND s.title = d.title
  AND NOT EXISTS (
    SELECT FROM stale_projections p
    WHERE p.workspace_id = d.workspace_id AND p.projection = 'search' AND p.document_id = d.id)`

type Fragment = ReturnType<typeof sql.fragment>
