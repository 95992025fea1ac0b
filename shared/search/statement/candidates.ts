import { sql } from '../../database/database.ts'
import { mergedPage } from '../../database/workspaces.ts'
import { candidateLimit, matchingLimit } from '../ranking/tuning.ts'
import { amongWorkspaces, type Fragment, hidden } from './conditions.ts'
import {
  hasEnoughTerms,
  isInFreshDocument,
  isInList,
  isInScope,
  listOf,
  matchesInDocument,
  rechecked,
} from './matches.ts'
import { newestDocuments } from './newest.ts'
import type { ByDocument, ByScore, Condition, SearchRequest } from './request.ts'
import { blockScore } from './score.ts'

/**
 * Selects the keys of blocks, each with its score: the blocks that ranking looks at, or the blocks of a page. Where the
 * newest documents come first, each block has the time of the last change of its document, too.
 */
export function candidates(request: SearchRequest): Fragment {
  const { order } = request
  if (order.by === 'document') return pageOf(request, order)
  if (order.read === 'words') return fromWords(request, order)
  const { condition, recheck } = request
  const [documents, time] =
    order.read === 'documents'
      ? [listOf(request.listed), sql.fragment``]
      : [sql.fragment`(${newestDocuments(request, order, order.read.newest)})`, sql.fragment`, d.updated_at`]
  return sql.fragment`
    SELECT b.workspace_id, b.document_id, b.ord, ${blockScore(order)} AS score ${time}
    FROM ${documents} AS d CROSS JOIN LATERAL (${matchesInDocument(order, { condition, recheck })}) AS b
    WHERE ${order.read === 'documents' ? isChosen(request, order) : sql.fragment`true`}
    LIMIT ${candidateLimit}`
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

function fromWords(request: SearchRequest, order: ByScore): Fragment {
  const { scope, condition, recheck } = request
  const bounded = (of: Condition) => sql.fragment`(
    SELECT b.workspace_id, b.document_id, b.ord, ${blockScore(order)} AS score FROM search_blocks b
    WHERE b.tsv @@ ${hidden(of.condition, 'tsquery')} AND ${amongWorkspaces(sql.fragment`b.workspace_id`, scope)}
      AND ${rechecked(of.recheck)} AND ${hasEnoughTerms(order)} AND ${isChosen(request, order)}
    LIMIT ${candidateLimit})`
  const found = bounded({ condition, recheck })
  return order.always === null ? found : sql.fragment`${bounded(order.always)} UNION ${found}`
}

// Whether a block may become a candidate. Blocks that filters exclude are sorted out before they are ranked.
function isChosen({ scope, listed }: SearchRequest, { inScopeOnly }: ByScore): Fragment {
  if (listed === 'scope') return isInList
  if (inScopeOnly) return isInFreshDocument(scope)
  return scope.filters ? isInScope(scope) : sql.fragment`true`
}

// Each workspace is read by itself, so that a page starts where the last page ended in the order of the primary key.
function pageOf(request: SearchRequest, order: ByDocument): Fragment {
  const { scope, condition, recheck, limit } = request
  const { after } = order
  const matches = sql.fragment`b.tsv @@ ${condition}::tsquery AND ${rechecked(recheck)}`
  const beyond =
    after === null ? sql.fragment`true` : sql.fragment`(b.document_id, b.ord) > (${after.documentId}, ${after.ord})`
  // Matches are sorted first and looked up in that order, so that only the documents of the page are read. Another sort
  // around the whole statement would hide from the planner that a page is short.
  const inOne = (workspace: Fragment) => sql.fragment`
    SELECT b.workspace_id, b.document_id, b.ord, 0::float8 AS score FROM (
      SELECT b.workspace_id, b.document_id, b.ord FROM search_blocks b
      WHERE b.workspace_id = ${workspace} AND ${matches} AND ${beyond}
      ORDER BY b.document_id, b.ord OFFSET 0) AS b
    WHERE ${isInFreshDocument(scope)} LIMIT ${limit}`
  if (order.read === 'documents') return pageOfListed(request, order, beyond)
  return mergedPage({
    workspaceIds: scope.workspaceIds,
    pageOf: inOne,
    order: sql.fragment`page.document_id, page.ord`,
    limit,
  })
}

function pageOfListed(
  { scope, listed, condition, recheck, limit }: SearchRequest,
  { after }: ByDocument,
  beyond: Fragment,
): Fragment {
  return sql.fragment`
    SELECT b.workspace_id, b.document_id, b.ord, 0::float8 AS score
    FROM (SELECT l.* FROM ${listOf(listed)} l WHERE l.id >= ${after?.documentId ?? ''} ORDER BY l.id OFFSET 0) AS d
    CROSS JOIN LATERAL (
      SELECT b.workspace_id, b.document_id, b.ord FROM search_blocks b
      WHERE b.workspace_id = d.workspace_id AND b.document_id = d.id
        AND ts_match_vq(b.tsv, ${condition}::tsquery) AND ${rechecked(recheck)} AND ${beyond}
      ORDER BY b.ord OFFSET 0) AS b
    WHERE ${isInFreshDocument(scope)} LIMIT ${limit}`
}
