import { sql } from '../../database/database.ts'
import { inWorkspaces, mergedPage } from '../../database/workspaces.ts'
import { newestWindow } from '../ranking/tuning.ts'
import { amongWorkspaces, type Fragment, hidden, isFresh } from './conditions.ts'
import { hasEnoughTerms, listOf, matchesInDocument, rechecked } from './matches.ts'
import type { ByScore, NewestSource, SearchRequest, SearchScope } from './request.ts'
import { isIncluded } from './scope.ts'

/**
 * Selects the documents in scope that match and were changed last, in the order of these changes: as many documents as
 * hits are fetched, since each document has at least one hit. All documents that were changed at the time of the last
 * selected document are selected, too, because their hits are ordered by score.
 */
export function newestDocuments(request: SearchRequest, order: ByScore, source: NewestSource): Fragment {
  const documents = source === 'words' ? withWords(request, order) : withMatches(request, order, source)
  return sql.fragment`
    SELECT d.workspace_id, d.id, d.updated_at FROM (${documents}) AS d
    ORDER BY d.updated_at DESC FETCH FIRST ${request.limit} ROWS WITH TIES`
}

// The index names all blocks that match. Their documents are looked up one by one, since the planner does not know how
// few documents there are.
function withWords({ scope, condition, recheck }: SearchRequest, order: ByScore): Fragment {
  return sql.fragment`
    SELECT fresh.* FROM (
      SELECT DISTINCT b.workspace_id, b.document_id FROM search_blocks b
      WHERE b.tsv @@ ${hidden(condition, 'tsquery')} AND ${amongWorkspaces(sql.fragment`b.workspace_id`, scope)}
        AND ${rechecked(recheck)} AND ${hasEnoughTerms(order)}) AS b
    CROSS JOIN LATERAL (
      SELECT d.workspace_id, d.id, d.updated_at FROM ${freshDocuments}
      WHERE ${isFresh} AND ${isIncluded(scope)} AND d.workspace_id = b.workspace_id AND d.id = b.document_id LIMIT 1
    ) AS fresh`
}

// The blocks of one document after the other are read until enough documents match.
function withMatches(request: SearchRequest, order: ByScore, source: 'listed' | 'window'): Fragment {
  const { scope, listed, condition, recheck } = request
  const chosen =
    source === 'listed'
      ? sql.fragment`d.id IN (SELECT l.id FROM ${listOf(listed)} l)`
      : sql.fragment`d.updated_at >= (${beginningOfWindow(scope)})`
  return sql.fragment`
    SELECT d.* FROM (
      SELECT d.workspace_id, d.id, d.updated_at FROM ${freshDocuments}
      WHERE ${inWorkspaces(sql.fragment`d.workspace_id`, scope.workspaceIds)} AND ${chosen} AND ${isIncluded(scope)} AND ${isFresh}
      ORDER BY d.updated_at DESC OFFSET 0) AS d
    WHERE EXISTS (${matchesInDocument(order, { condition, recheck })})`
}

const freshDocuments = sql.fragment`
  documents d JOIN search_documents s ON s.workspace_id = d.workspace_id AND s.document_id = d.id`

// The time of the last change of the oldest document in the window.
function beginningOfWindow(scope: SearchScope): Fragment {
  const newest = mergedPage({
    workspaceIds: scope.workspaceIds,
    pageOf: (workspace) => sql.fragment`
      SELECT d.updated_at FROM documents d WHERE d.workspace_id = ${workspace} AND ${isIncluded(scope)}
      ORDER BY d.updated_at DESC LIMIT ${newestWindow}`,
    order: sql.fragment`page.updated_at DESC`,
    limit: newestWindow,
  })
  return sql.fragment`SELECT min(newest.updated_at) FROM (${newest}) AS newest`
}
