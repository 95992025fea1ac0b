import Type, { type Static } from 'typebox'
import { sql } from '../../database/database.ts'
import type { PathEntry } from '../../documents/schema.ts'
import { Nullable } from '../../schema/identifiers.ts'
import { Headings } from '../index/outline.ts'
import { amongWorkspaces, isFresh, isIncluded } from './conditions.ts'
import { hidden } from './plan.ts'
import type { SearchRequest } from './request.ts'

export const HitShape = Type.Object({
  workspace_id: Type.String(),
  document_id: Type.String(),
  ord: Type.Number(),
  block_id: Nullable(Type.String()),
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
  position: Nullable(Type.Integer()),
  headings: Headings,
  estimate: Type.Number(),
})

/**
 * A block or title that matches, with what its presentation needs: `position` is that of its top-level block, `headings`
 * are those up to there. `estimate` is its score as SQL sees it.
 */
export type Hit = Static<typeof HitShape> & { path: PathEntry[] }

/**
 * So much text, in bytes of UTF-8, is read for one answer, unless a single block is longer: some 100 ms of matching. Hits
 * beyond are left for another page.
 */
const mostBytes = 1_048_576

/** Those of the hits that `fetched` holds whose texts are short enough together: from the best on, at least one. */
export const shortEnough = sql.fragment`
  SELECT f.* FROM fetched f ORDER BY f.estimate DESC, f.document_id, f.ord LIMIT (
    SELECT greatest(1, count(*)) FROM (
      SELECT sum(octet_length(f.body)) OVER (ORDER BY f.estimate DESC, f.document_id, f.ord) AS bytes FROM fetched f
    ) AS texts WHERE texts.bytes <= ${mostBytes})`

// Of few headings all come along, which is faster than to choose.
const fewBytes = 1000

// The last heading of each level says as much about the path as all headings do. Longer titles are cut in a path.
const nearestHeadings = sql.fragment`
  SELECT coalesce(jsonb_agg(jsonb_build_array(h.at, h.level, h.title) ORDER BY h.at), '[]') FROM (
    SELECT DISTINCT ON (heading -> 1) heading -> 0 AS at, heading -> 1 AS level, left(heading ->> 2, 201) AS title
    FROM jsonb_array_elements(s.headings) AS heading WHERE heading -> 0 <= to_jsonb(place.position)
    ORDER BY heading -> 1, heading -> 0 DESC) AS h`

/**
 * The best of the `candidates` whose documents are in scope and whose index is of the current version. Sorted first and
 * looked up one by one in that order, no more of them are read than are asked for.
 */
export function freshHits({ scope, limit }: SearchRequest) {
  return sql.fragment`
    SELECT hit.*, c.score AS estimate
    FROM (SELECT * FROM candidates ORDER BY score DESC, document_id, ord OFFSET 0) AS c
    CROSS JOIN LATERAL (
      SELECT b.workspace_id, b.document_id, b.ord, b.block_id, b.type, b.length, b.body,
        d.title, d.document_type, d.knowledge_base_id, d.folder_id, d.locale, d.document_set_id, d.version,
        s.source_version, s.language, place.position,
        CASE WHEN pg_column_size(s.headings) <= ${fewBytes} THEN jsonb_path_query_array(
          s.headings, 'strict $[*] ? (@[0] <= $at)', jsonb_build_object('at', place.position))
        ELSE (${nearestHeadings}) END AS headings,
        (extract(epoch FROM d.updated_at) * 1000)::bigint AS updated_at,
        (extract(epoch FROM s.indexed_at) * 1000)::bigint AS indexed_at
      FROM documents d
      JOIN search_documents s ON s.workspace_id = d.workspace_id AND s.document_id = d.id
      JOIN search_blocks b ON b.workspace_id = d.workspace_id AND b.document_id = d.id AND b.ord = c.ord
      CROSS JOIN LATERAL (SELECT array_position(s.top_block_ids, b.top_block_id) - 1 AS position OFFSET 0) AS place
      WHERE d.workspace_id = c.workspace_id AND d.id = c.document_id AND ${isIncluded(scope)}
        AND ${amongWorkspaces(sql.fragment`d.workspace_id`, scope)} AND ${isFresh}
      LIMIT 1) AS hit
    ORDER BY c.score DESC, c.document_id, c.ord LIMIT ${hidden(limit, 'int8')}`
}
