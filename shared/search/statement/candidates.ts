import { sql } from '../../database/database.ts'
import { amongWorkspaces, isFresh, isIncluded } from './conditions.ts'
import { hidden } from './plan.ts'
import { type Condition, candidateLimit, type SearchOrder, type SearchRequest } from './request.ts'
import { blockScore } from './score.ts'

// Terms matching more blocks than this are counted as matching this many.
export const matchingLimit = 2000

/** The blocks that ranking looks at, or those of a page, as keys with their score. */
export function candidates({ scope, condition, remainder, order, limit }: SearchRequest) {
  // The function is no operator, so the index is not asked.
  const rest = (tsquery: string | null) => sql.fragment`coalesce(ts_match_vq(b.tsv, ${tsquery}::tsquery), true)`
  if (order.by === 'document') {
    const matches = sql.fragment`b.tsv @@ ${condition}::tsquery AND ${rest(remainder)}`
    return placed({ scope, order, limit, matches })
  }
  const some = (sought: Condition) => sql.fragment`(
    SELECT b.workspace_id, b.document_id, b.ord, ${blockScore(order)} AS score FROM search_blocks b
    WHERE b.tsv @@ ${hidden(sought.condition, 'tsquery')} AND ${amongWorkspaces(sql.fragment`b.workspace_id`, scope)}
      AND ${rest(sought.remainder)} AND ${enoughTerms(order)}
      AND ${order.within ? fresh(scope) : sql.fragment`true`}
    LIMIT ${candidateLimit})`
  const all = some({ condition, remainder })
  return order.first === null ? all : sql.fragment`${some(order.first)} UNION ${all}`
}

/** How many blocks match each term: estimates where there are any, else counted in the same snapshot. */
export function matchCounts({ scope, order }: SearchRequest) {
  if (order.by === 'document' || order.terms.length === 0) return sql.fragment`ARRAY[]::float8[]`
  const counts = order.terms.map(
    ({ tsquery, matching }) => sql.fragment`
      coalesce(${matching}::float8, (
        SELECT count(*)::float8 FROM (
          SELECT FROM search_blocks b
          WHERE b.tsv @@ ${hidden(tsquery, 'tsquery')} AND ${amongWorkspaces(sql.fragment`b.workspace_id`, scope)}
          LIMIT ${matchingLimit}) AS matching))`,
  )
  return sql.fragment`ARRAY[${sql.join(counts, sql.fragment`, `)}]`
}

type Fragment = ReturnType<typeof sql.fragment>

// The condition asks for all of the terms or for two.
function enoughTerms({ terms, required }: SearchOrder & { by: 'score' }): Fragment {
  if (required === terms.length || required <= 2) return sql.fragment`true`
  const matches = terms.map(({ tsquery }) => sql.fragment`(b.tsv @@ ${tsquery}::tsquery)::int`)
  return sql.fragment`${sql.join(matches, sql.fragment` + `)} >= ${required}`
}

// Each workspace by itself, so that a page is read from where the last one ended in the order of the primary key.
function placed(page: {
  scope: SearchRequest['scope']
  order: SearchOrder & { by: 'document' }
  limit: number
  matches: Fragment
}) {
  const { after } = page.order
  const beyond =
    after === null ? sql.fragment`true` : sql.fragment`(b.document_id, b.ord) > (${after.documentId}, ${after.ord})`
  const [only, ...others] = page.scope.workspaceIds
  // Sorted first and looked up in that order, no more documents are read than the page needs. To sort once more around it
  // would hide from the planner that a page is short.
  const inOne = (workspace: Fragment) => sql.fragment`
    SELECT b.workspace_id, b.document_id, b.ord, 0::float8 AS score FROM (
      SELECT b.workspace_id, b.document_id, b.ord FROM search_blocks b
      WHERE b.workspace_id = ${workspace} AND ${page.matches} AND ${beyond}
      ORDER BY b.document_id, b.ord OFFSET 0) AS b
    WHERE ${fresh(page.scope)} LIMIT ${page.limit}`
  if (only !== undefined && others.length === 0) return inOne(sql.fragment`${only}`)
  return sql.fragment`
    SELECT page.* FROM unnest(${sql.array([...page.scope.workspaceIds], 'text')}) AS workspace (id)
    CROSS JOIN LATERAL (${inOne(sql.fragment`workspace.id`)}) AS page
    ORDER BY page.document_id, page.ord LIMIT ${page.limit}`
}

function fresh(scope: SearchRequest['scope']) {
  return sql.fragment`
    EXISTS (
      SELECT FROM documents d
      JOIN search_documents s ON s.workspace_id = d.workspace_id AND s.document_id = d.id
      WHERE d.workspace_id = b.workspace_id AND d.id = b.document_id AND ${isIncluded(scope)} AND ${isFresh} OFFSET 0)`
}
