import { sql } from '../../database/database.ts'
import { mergedPage } from '../../database/workspaces.ts'
import { newestWindow } from '../ranking/tuning.ts'
import { amongWorkspaces, type Fragment, hidden, inWorkspacesOf, isFresh } from './conditions.ts'
import { hasEnoughTerms, listOf, matchesInDocument, rechecked } from './matches.ts'
import type { ByScore, NewestSource, SearchRequest, SearchScope } from './request.ts'
import { isIncluded } from './scope.ts'

/**
 * Selects the documents in scope that match and were changed last, in the order of these changes: as many documents as
 * hits are fetched, since each document has at least one hit. All documents that were changed at the time of the last
 * selected document are selected, too, because their hits are ordered by score.
 */
export function newestDocuments(request: SearchRequest, order: ByScore, source: NewestSource): Fragment {
  const { condition, recheck } = request
  const matches = matchesInDocument(order, { condition, recheck })
  const [documents, isMatching] =
    source === 'words'
      ? [withWords(request, order), sql.fragment`true`]
      : [chosenDocuments(request, source), sql.fragment`EXISTS (${matches})`]
  // Freshness and matches are looked up one document after the other, in the order of the changes, until there are
  // enough documents.
  return sql.fragment`
    SELECT d.workspace_id, d.id, d.updated_at
    FROM (SELECT d.* FROM (${documents}) AS d ORDER BY d.updated_at DESC OFFSET 0) AS d
    WHERE EXISTS (
        SELECT FROM search_documents s WHERE s.workspace_id = d.workspace_id AND s.document_id = d.id AND ${isFresh} OFFSET 0)
      AND ${isMatching}
    ORDER BY d.updated_at DESC FETCH FIRST ${request.limit} ROWS WITH TIES`
}

const columns = sql.fragment`d.workspace_id, d.id, d.updated_at, d.version, d.title`

// The index names all blocks that match. Their documents are looked up one by one, since the planner does not know how
// few documents there are.
function withWords({ scope, condition, recheck }: SearchRequest, order: ByScore): Fragment {
  return sql.fragment`
    SELECT included.* FROM (
      SELECT DISTINCT b.workspace_id, b.document_id FROM search_blocks b
      WHERE b.tsv @@ ${hidden(condition, 'tsquery')} AND ${amongWorkspaces(sql.fragment`b.workspace_id`, scope)}
        AND ${rechecked(recheck)} AND ${hasEnoughTerms(order)}) AS b
    CROSS JOIN LATERAL (
      SELECT ${columns} FROM documents d
      WHERE ${isIncluded(scope)} AND d.workspace_id = b.workspace_id AND d.id = b.document_id LIMIT 1) AS included`
}

function chosenDocuments({ scope, listed }: SearchRequest, source: 'listed' | 'window'): Fragment {
  if (source === 'listed') {
    return sql.fragment`
      SELECT chosen.* FROM ${listOf(listed)} AS l CROSS JOIN LATERAL (
        SELECT ${columns} FROM documents d
        WHERE d.workspace_id = l.workspace_id AND d.id = l.id AND ${isIncluded(scope)} LIMIT 1) AS chosen`
  }
  return sql.fragment`
    SELECT ${columns} FROM documents d
    WHERE ${inWorkspacesOf(scope, sql.fragment`d.workspace_id`)} AND d.updated_at >= (${beginningOfWindow(scope)})
      AND ${isIncluded(scope)}`
}

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
