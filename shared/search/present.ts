import { headingPathAt } from './index/outline.ts'
import type { RankedHit } from './rank.ts'
import type { SearchResult, SearchV2Hit } from './schema.ts'

/** A hit as version 1 of the search interface returns it. */
export function presentResult({ hit, context, moreInDocument }: RankedHit): SearchResult {
  const isTitle = hit.type === 'title'
  return {
    document_id: hit.document_id,
    title: hit.title,
    knowledge_base_id: hit.knowledge_base_id,
    folder_id: hit.folder_id,
    document_type: hit.document_type,
    block_id: hit.block_id,
    matched_in: isTitle ? 'title' : 'content',
    snippet: isTitle ? null : `${context.before ?? ''}${context.match}${context.after ?? ''}`,
    updated_at: hit.updated_at,
    ...localization(hit),
    ...(moreInDocument !== undefined && { more_in_document: moreInDocument }),
  }
}

/** A hit as version 2 of the search interface returns it. */
export function presentV2Result(ranked: RankedHit): SearchV2Hit {
  const { hit, context, matchCount, score, explanation, moreInDocument } = ranked
  const isTitle = hit.type === 'title'
  return {
    document_id: hit.document_id,
    document_uri: `svc://doc/${hit.document_id}`,
    title: hit.title,
    knowledge_base_id: hit.knowledge_base_id,
    folder_id: hit.folder_id,
    document_type: hit.document_type,
    ...localization(hit),
    path: hit.path,
    path_text: hit.path.map(({ name }) => name).join(' / '),
    block_id: hit.block_id,
    block_type: isTitle ? null : hit.type,
    position: hit.position,
    matched_in: isTitle ? 'title' : 'content',
    heading_path: hit.position === null ? [] : headingPathAt(hit.headings, hit.position),
    context,
    match_count: matchCount,
    score,
    score_explanation: explanation,
    source_version: hit.version,
    indexed_version: hit.source_version,
    freshness: 'current',
    indexed_at: hit.indexed_at,
    updated_at: hit.updated_at,
    ...(moreInDocument !== undefined && { more_in_document: moreInDocument }),
  }
}

function localization(hit: RankedHit['hit']) {
  return {
    locale: hit.locale,
    document_set_id: hit.document_set_id,
    document_set_uri: hit.document_set_id === null ? null : `svc://docset/${hit.document_set_id}`,
  }
}
