import { sql } from '../../database/database.ts'
import { mergedPage } from '../../database/workspaces.ts'
import { tokeniserEpoch } from '../text/tokenise.ts'
import { type Fragment, isIncluded } from './conditions.ts'
import type { SearchRequest, SearchScope } from './request.ts'

/** How much of the documents in scope the index covers, as one row with the columns of `search_coverage`. */
export function coverage({ workspaceIds, knowledgeBaseId, locale }: SearchScope) {
  const exact = typeof locale === 'object' ? locale.exact : null
  return sql.fragment`
    search_coverage(${sql.array([...workspaceIds], 'text')}, ${knowledgeBaseId ?? null}, ${exact},
      ${locale !== 'default'}, ${tokeniserEpoch})`
}

/**
 * The fingerprint of a scope changes whenever a document in scope is added, removed, changed or indexed. Of two writes
 * the later write may carry the earlier time, so the newest time may miss a write. Therefore the fingerprint also has
 * the count of documents and a mark of the writes that are not indexed yet. The newest times are read from the ends of
 * the indexes on the times. That takes 0.6 ms at 10,000 documents, where an aggregate takes 8 ms.
 */
export function scopeFingerprint({ scope, order }: SearchRequest) {
  if (order.by === 'score') return sql.fragment`''`
  const newest = (column: Fragment, from: Fragment) =>
    mergedPage({
      workspaceIds: scope.workspaceIds,
      pageOf: (workspaceId) => sql.fragment`
        SELECT ${column} AS at FROM ${from} WHERE d.workspace_id = ${workspaceId} AND ${isIncluded(scope)}
        ORDER BY ${column} DESC LIMIT 1`,
      order: sql.fragment`page.at DESC`,
      limit: 1,
    })
  const milliseconds = (time: Fragment) =>
    sql.fragment`(SELECT (extract(epoch FROM n.at) * 1000)::bigint FROM (${time}) AS n)`
  return sql.fragment`concat_ws(':',
    c.document_count,
    ${milliseconds(newest(sql.fragment`d.updated_at`, sql.fragment`documents d`))},
    ${milliseconds(
      newest(
        sql.fragment`s.indexed_at`,
        sql.fragment`search_documents s JOIN documents d ON d.workspace_id = s.workspace_id AND d.id = s.document_id`,
      ),
    )},
    c.stale_document_count, c.stale_mark)`
}
