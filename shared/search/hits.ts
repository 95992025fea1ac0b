import Type, { type Static } from 'typebox'
import { sql } from '../database.ts'
import { PathEntry } from '../documents/schema.ts'
import { Nullable } from '../identifiers.ts'
import { SearchOutline } from './outline.ts'
import type { SearchRequest } from './request.ts'
import { scopeCondition } from './scope-condition.ts'

export const HitShape = Type.Object({
  document_id: Type.String(),
  ord: Type.Number(),
  block_id: Nullable(Type.String()),
  top_block_id: Nullable(Type.String()),
  type: Type.String(),
  length: Type.Number(),
  body: Type.String(),
  title: Type.String(),
  document_type: Type.String(),
  knowledge_base_id: Type.Number(),
  folder_id: Nullable(Type.Number()),
  locale: Nullable(Type.String()),
  document_set_id: Nullable(Type.String()),
  version: Type.String(),
  source_version: Type.String(),
  updated_at: Type.Number(),
  indexed_at: Type.Number(),
  language: Type.String(),
  outline: SearchOutline,
  path: Type.Array(PathEntry),
  estimate: Type.Number(),
})

/** A block or title that matches, with what its presentation needs; `estimate` is its score as SQL sees it. */
export type Hit = Static<typeof HitShape>

/**
 * The best of the `candidates` whose documents are in scope and whose index is of the current version. Sorted first and
 * looked up one by one in that order, no more of them are read than are asked for.
 */
export function freshHits({ scope, limit }: SearchRequest) {
  return sql.fragment`
    SELECT c.score, hit.*
    FROM (SELECT * FROM candidates ORDER BY score DESC, document_id, ord OFFSET 0) AS c
    CROSS JOIN LATERAL (
      SELECT b.workspace_id, b.document_id, b.ord, b.block_id, b.top_block_id, b.type, b.length, b.body,
        d.title, d.document_type, d.knowledge_base_id, d.folder_id, d.locale, d.document_set_id, d.version,
        d.updated_at, s.source_version, s.indexed_at, s.language, s.outline
      FROM documents d
      JOIN search_documents s ON s.workspace_id = d.workspace_id AND s.document_id = d.id
      JOIN search_blocks b ON b.workspace_id = d.workspace_id AND b.document_id = d.id AND b.ord = c.ord
      WHERE d.workspace_id = c.workspace_id AND d.id = c.document_id AND ${scopeCondition(scope)}
        AND s.source_version = d.version AND s.title = d.title
      LIMIT 1) AS hit
    WHERE c.document_id NOT IN (SELECT document_id FROM stale)
    ORDER BY c.score DESC, c.document_id, c.ord LIMIT ${limit}`
}

/** A row of `freshHits`, called `h`, as JSON; the path is resolved here, for the hits that are returned. */
export const hitObject = sql.fragment`
  json_build_object(
    'document_id', h.document_id, 'ord', h.ord, 'block_id', h.block_id, 'top_block_id', h.top_block_id,
    'type', h.type, 'length', h.length, 'body', h.body, 'title', h.title, 'document_type', h.document_type,
    'knowledge_base_id', h.knowledge_base_id, 'folder_id', h.folder_id, 'locale', h.locale,
    'document_set_id', h.document_set_id, 'version', h.version, 'source_version', h.source_version,
    'updated_at', (extract(epoch FROM h.updated_at) * 1000)::bigint,
    'indexed_at', (extract(epoch FROM h.indexed_at) * 1000)::bigint,
    'language', h.language, 'outline', h.outline, 'estimate', h.score,
    'path', (
      WITH RECURSIVE above AS (
        SELECT f.id, f.name, f.parent_id, 1 AS height FROM folders f
        WHERE f.workspace_id = h.workspace_id AND f.id = h.folder_id
        UNION ALL
        SELECT f.id, f.name, f.parent_id, above.height + 1
        FROM above JOIN folders f ON f.workspace_id = h.workspace_id AND f.id = above.parent_id
      )
      SELECT jsonb_build_array(jsonb_build_object('id', k.id, 'name', k.name, 'type', 'knowledge_base'))
        || coalesce((SELECT jsonb_agg(jsonb_build_object('id', id, 'name', name, 'type', 'folder')
                                      ORDER BY height DESC) FROM above), '[]')
        || jsonb_build_array(jsonb_build_object('id', h.document_id, 'name', h.title, 'type', 'document'))
      FROM knowledge_bases k WHERE k.workspace_id = h.workspace_id AND k.id = h.knowledge_base_id))`
