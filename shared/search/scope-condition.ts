import { sql } from '../database.ts'
import type { SearchScope } from './request.ts'

/** The condition under which a document `d` is in scope. */
export function scopeCondition(scope: SearchScope) {
  const { locale, knowledgeBaseId } = scope
  const conditions = [
    inWorkspaces(sql.fragment`d.workspace_id`, scope),
    ...(knowledgeBaseId === undefined ? [] : [sql.fragment`d.knowledge_base_id = ${knowledgeBaseId}`]),
    ...(locale === 'default' ? [sql.fragment`d.variant_role IS DISTINCT FROM 'translation'`] : []),
    ...(typeof locale === 'object' ? [sql.fragment`d.locale = ${locale.exact}`] : []),
  ]
  return sql.join(conditions, sql.fragment` AND `)
}

/** That a column is one of the workspaces in scope; equality where there is one, by which indexes keep their order. */
export function inWorkspaces(column: ReturnType<typeof sql.fragment>, { workspaceIds }: SearchScope) {
  const [only, ...others] = workspaceIds
  if (only !== undefined && others.length === 0) return sql.fragment`${column} = ${only}`
  return sql.fragment`${column} = ANY(${sql.array([...workspaceIds], 'text')})`
}

/** That a document `d` is indexed, in `s`, as it stands. */
export const isFresh = sql.fragment`
  s.source_version = d.version AND s.title = d.title
  AND NOT EXISTS (
    SELECT FROM stale_projections p
    WHERE p.workspace_id = d.workspace_id AND p.projection = 'search' AND p.document_id = d.id)`
