import Type, { type Static } from 'typebox'
import { prepared, type Queryable, sql } from '../../database/database.ts'
import { row } from '../../database/row.ts'
import { inWorkspaces } from '../../database/workspaces.ts'
import type { SearchScope } from './request.ts'
import { isIncluded, scopeTables } from './scope.ts'

const StaleShape = Type.Object({
  snapshot: Type.String(),
  count: Type.Number(),
  document_ids: Type.Array(Type.String()),
})
const StaleRow = row(StaleShape)

/**
 * The documents in scope whose last write is not indexed, as of a snapshot. `documentIds` are the 100 documents that
 * were written last, which as a rule are indexed last.
 */
export type StaleDocuments = Pick<Static<typeof StaleShape>, 'snapshot' | 'count'> & { documentIds: readonly string[] }

/**
 * Reads which documents in scope wait to be indexed. A document that only another version of the tokeniser has indexed
 * is left out: its last write is indexed.
 */
export async function staleDocuments(db: Queryable, scope: SearchScope): Promise<StaleDocuments> {
  const statement = sql.type(StaleRow)`
    WITH ${scopeTables(scope, { listed: false })}
    waiting AS (
      SELECT p.document_id, p.event_row_no FROM stale_projections p
      JOIN documents d ON d.workspace_id = p.workspace_id AND d.id = p.document_id
      WHERE ${inWorkspaces(sql.fragment`p.workspace_id`, scope.workspaceIds)} AND p.projection = 'search'
        AND ${isIncluded(scope)})
    SELECT pg_current_snapshot()::text AS snapshot, count(*) AS count,
      coalesce((array_agg(document_id ORDER BY event_row_no DESC))[1:100], '{}') AS document_ids
    FROM waiting`
  // Each combination of filters has a statement of its own, so only the statement without filters is kept.
  const { document_ids: documentIds, ...stale } = await db.one(scope.filters ? statement : prepared(statement))
  return { ...stale, documentIds }
}
