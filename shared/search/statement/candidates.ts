import { sql } from '../../database/database.ts'
import { mergedPage } from '../../database/workspaces.ts'
import { candidateLimit, matchingLimit } from '../ranking/tuning.ts'
import { amongWorkspaces, type Fragment, hidden, isFresh, isIncluded } from './conditions.ts'
import type { ByDocument, ByScore, Condition, SearchRequest, SearchScope } from './request.ts'
import { blockScore } from './score.ts'

/** Selects the keys of blocks, each with its score: the blocks that ranking looks at, or the blocks of a page. */
export function candidates({ scope, condition, recheck, order, limit }: SearchRequest) {
  // The operator @@ is written as a call of its function. PostgreSQL would answer the operator from the index, but here
  // it is to check the rows that the index has already found.
  const rechecked = (tsquery: string | null) => sql.fragment`coalesce(ts_match_vq(b.tsv, ${tsquery}::tsquery), true)`
  if (order.by === 'document') {
    const matches = sql.fragment`b.tsv @@ ${condition}::tsquery AND ${rechecked(recheck)}`
    return pageOf({ scope, order, limit, matches })
  }
  const bounded = (of: Condition) => sql.fragment`(
    SELECT b.workspace_id, b.document_id, b.ord, ${blockScore(order)} AS score FROM search_blocks b
    WHERE b.tsv @@ ${hidden(of.condition, 'tsquery')} AND ${amongWorkspaces(sql.fragment`b.workspace_id`, scope)}
      AND ${rechecked(of.recheck)} AND ${enoughTerms(order)}
      AND ${order.inScopeOnly ? fresh(scope) : sql.fragment`true`}
    LIMIT ${candidateLimit})`
  const found = bounded({ condition, recheck })
  return order.always === null ? found : sql.fragment`${bounded(order.always)} UNION ${found}`
}

/**
 * Selects how many blocks contain each term: an estimate where `matching` has an estimate, else a count of the same
 * snapshot.
 */
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

// A match that needs all terms, or at most two of them, needs no count: the condition for the index already asks for
// these terms.
function enoughTerms({ terms, minimumShouldMatch }: ByScore): Fragment {
  if (minimumShouldMatch === terms.length || minimumShouldMatch <= 2) return sql.fragment`true`
  const matches = terms.map(({ tsquery }) => sql.fragment`(b.tsv @@ ${tsquery}::tsquery)::int`)
  return sql.fragment`${sql.join(matches, sql.fragment` + `)} >= ${minimumShouldMatch}`
}

// Each workspace is read by itself, so that a page starts where the last page ended in the order of the primary key.
function pageOf(page: { scope: SearchScope; order: ByDocument; limit: number; matches: Fragment }) {
  const { after } = page.order
  const beyond =
    after === null ? sql.fragment`true` : sql.fragment`(b.document_id, b.ord) > (${after.documentId}, ${after.ord})`
  // Matches are sorted first and looked up in that order, so that only the documents of the page are read. Another sort
  // around the whole statement would hide from the planner that a page is short.
  const inOne = (workspace: Fragment) => sql.fragment`
    SELECT b.workspace_id, b.document_id, b.ord, 0::float8 AS score FROM (
      SELECT b.workspace_id, b.document_id, b.ord FROM search_blocks b
      WHERE b.workspace_id = ${workspace} AND ${page.matches} AND ${beyond}
      ORDER BY b.document_id, b.ord OFFSET 0) AS b
    WHERE ${fresh(page.scope)} LIMIT ${page.limit}`
  return mergedPage({
    workspaceIds: page.scope.workspaceIds,
    pageOf: inOne,
    order: sql.fragment`page.document_id, page.ord`,
    limit: page.limit,
  })
}

/** The condition that the document of a block `b` is in a scope and that its index is current. */
export function fresh(scope: SearchScope) {
  return sql.fragment`
    EXISTS (
      SELECT FROM documents d
      JOIN search_documents s ON s.workspace_id = d.workspace_id AND s.document_id = d.id
      WHERE d.workspace_id = b.workspace_id AND d.id = b.document_id AND ${isIncluded(scope)} AND ${isFresh} OFFSET 0)`
}
