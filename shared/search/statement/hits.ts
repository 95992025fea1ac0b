import Type, { type Static } from 'typebox'
import { sql } from '../../database/database.ts'
import type { PathEntry } from '../../documents/schema.ts'
import { Nullable } from '../../schema/identifiers.ts'
import { Headings } from '../index/outline.ts'
import { amongWorkspaces, type Fragment, hidden, isFresh } from './conditions.ts'
import { matchesInDocument } from './matches.ts'
import type { PerDocument, SearchRequest } from './request.ts'
import { isIncluded } from './scope.ts'

// The most bytes of UTF-8 that the texts of one answer have together. Matching so much text takes some 100 ms. Further
// hits are left for another page.
const mostBytes = 1_048_576
// If the headings of a document have at most this many bytes, all are returned, which is faster than choosing among
// them.
const fewBytes = 1000

/** The columns of a hit. */
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
 * A block or title that matches, with everything that its presentation needs. `position` is the index of the top-level
 * block around the hit, `headings` are the headings up to that position. `estimate` is the score of the hit as
 * PostgreSQL computes it. `matches_in_document` counts all matches in the document; absent unless the hits of one
 * document are limited.
 */
export type Hit = Static<typeof HitShape> & { path: PathEntry[]; matches_in_document?: number }

/**
 * Selects the best rows of `candidates` whose documents are in scope and whose index is current. Candidates are sorted
 * first and looked up one by one in that order, so that no more candidates are read than the limit asks for.
 */
export function freshHits({ scope, order, limit }: SearchRequest) {
  const perDocument = order.by === 'score' ? order.perDocument : null
  const sorted = isNewestFirst(order)
    ? sql.fragment`c.updated_at DESC, c.score DESC, c.document_id, c.ord`
    : sql.fragment`c.score DESC, c.document_id, c.ord`
  return sql.fragment`
    SELECT hit.*, c.score AS estimate
    FROM (SELECT * FROM ${perDocument ? bestOfDocuments(perDocument) : sql.fragment`candidates AS c`} ORDER BY ${sorted} OFFSET 0) AS c
    CROSS JOIN LATERAL (
      SELECT b.workspace_id, b.document_id, b.ord, place.block_id, b.type, b.length, b.body,
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
      CROSS JOIN LATERAL (${placeOfRow}) AS place
      WHERE d.workspace_id = c.workspace_id AND d.id = c.document_id AND ${isIncluded(scope)}
        AND ${amongWorkspaces(sql.fragment`d.workspace_id`, scope)} AND ${isFresh}
      LIMIT 1) AS hit
    ORDER BY ${sorted} LIMIT ${hidden(limit, 'int8')}`
}

/** The order of the hits of a request, for a table `f` with the columns of `freshHits`. */
export function hitOrder({ order }: SearchRequest): Fragment {
  const byScore = sql.fragment`f.estimate DESC, f.document_id, f.ord`
  return isNewestFirst(order) ? sql.fragment`f.updated_at DESC, ${byScore}` : byScore
}

/** Selects the first rows of `fetched`: as many as have at most `mostBytes` of text together, but at least one row. */
export function shortEnough(request: SearchRequest): Fragment {
  return sql.fragment`
  SELECT f.* FROM fetched f ORDER BY ${hitOrder(request)} LIMIT (
    SELECT greatest(1, count(*)) FROM (
      SELECT sum(octet_length(f.body)) OVER (ORDER BY ${hitOrder(request)}) AS bytes FROM fetched f
    ) AS texts WHERE texts.bytes <= ${mostBytes})`
}

/** The columns with the knowledge bases and folders above all hits. */
export const AncestorShape = {
  knowledge_bases: Type.Array(Type.Object({ id: Type.Number(), name: Type.String() })),
  folders: Type.Array(Type.Object({ id: Type.Number(), name: Type.String(), parent_id: Nullable(Type.Number()) })),
}

const Ancestors = Type.Object(AncestorShape)

/**
 * Selects the knowledge bases and folders above the `hits`, each of them once. Walking up from each hit by itself took
 * a fifth of the time of a search for a rare word. Folders are looked up one by one, since the planner does not know
 * how few folders there are.
 */
export const ancestorColumns = sql.fragment`
  coalesce((
    SELECT json_agg(k) FROM (SELECT DISTINCT h.workspace_id, h.knowledge_base_id FROM hits h) AS h
    CROSS JOIN LATERAL (
      SELECT k.id, k.name FROM knowledge_bases k
      WHERE k.workspace_id = h.workspace_id AND k.id = h.knowledge_base_id LIMIT 1) AS k
  ), '[]') AS knowledge_bases,
  coalesce((
    WITH RECURSIVE above AS (
      SELECT h.workspace_id, f.* FROM (SELECT DISTINCT h.workspace_id, h.folder_id FROM hits h) AS h
      CROSS JOIN LATERAL (
        SELECT f.id, f.name, f.parent_id FROM folders f
        WHERE f.workspace_id = h.workspace_id AND f.id = h.folder_id LIMIT 1) AS f
      UNION
      SELECT a.workspace_id, f.* FROM above a
      CROSS JOIN LATERAL (
        SELECT f.id, f.name, f.parent_id FROM folders f
        WHERE f.workspace_id = a.workspace_id AND f.id = a.parent_id LIMIT 1) AS f
    )
    SELECT json_agg(json_build_object('id', a.id, 'name', a.name, 'parent_id', a.parent_id)) FROM above a
  ), '[]') AS folders`

/**
 * Selects for each document of the `hits` the number of all its matches, if the hits of one document are limited;
 * otherwise null.
 */
export function matchesInDocuments({ order }: SearchRequest): Fragment {
  if (order.by === 'document' || order.perDocument === null) return sql.fragment`NULL`
  return sql.fragment`(
    SELECT json_object_agg(d.id, (SELECT count(*) FROM (${matchesInDocument(order, order.perDocument.matches)}) AS m))
    FROM (SELECT DISTINCT h.workspace_id, h.document_id AS id FROM hits h) AS d)`
}

/**
 * Makes a function that returns the path of a hit: its knowledge base, the folders from the root down, the document.
 */
export function pathsIn(
  ancestors: Static<typeof Ancestors>,
): (hit: { document_id: string; title: string; knowledge_base_id: number; folder_id: number | null }) => PathEntry[] {
  const bases = new Map(ancestors.knowledge_bases.map((base) => [base.id, base]))
  const folders = new Map(ancestors.folders.map((folder) => [folder.id, folder]))
  return ({ document_id, title, knowledge_base_id, folder_id }) => {
    const path: PathEntry[] = [{ id: document_id, name: title, type: 'document' }]
    for (let folder = folders.get(folder_id ?? 0); folder; folder = folders.get(folder.parent_id ?? 0)) {
      path.unshift({ id: folder.id, name: folder.name, type: 'folder' })
    }
    const base = bases.get(knowledge_base_id)
    if (base) path.unshift({ id: base.id, name: base.name, type: 'knowledge_base' })
    return path
  }
}

function isNewestFirst(order: SearchRequest['order']): boolean {
  return order.by === 'score' && typeof order.read === 'object'
}

function bestOfDocuments({ fetched }: PerDocument): Fragment {
  return sql.fragment`(
    SELECT * FROM (
      SELECT *, row_number() OVER (PARTITION BY document_id ORDER BY score DESC, ord) AS nth FROM candidates
    ) AS numbered WHERE nth <= ${fetched}) AS c`
}

// The block id and the position of a row of the index. Both stand in the lists of the document if `rows_at` equals
// `indexed_at`. Workers of an earlier version never touch `rows_at`, and keep the block id in the row itself.
const placeOfRow = sql.fragment`
  SELECT CASE WHEN s.rows_at = s.indexed_at THEN s.row_block_ids[row.n] ELSE b.block_id END AS block_id,
    CASE WHEN s.rows_at = s.indexed_at THEN s.row_positions[row.n]
    ELSE array_position(s.top_block_ids, b.top_block_id) - 1 END AS position
  FROM (SELECT array_position(s.row_ords, b.ord) AS n OFFSET 0) AS row OFFSET 0`

/**
 * Selects the headings of the index `s` that make the heading path at `place.position`. The last heading of each level
 * determines the path. A path cuts a title at 200 code points. One code point more is read, to show whether the title
 * is cut.
 */
export const nearestHeadings = sql.fragment`
  SELECT coalesce(jsonb_agg(jsonb_build_array(h.at, h.level, h.title) ORDER BY h.at), '[]') FROM (
    SELECT DISTINCT ON (heading -> 1) heading -> 0 AS at, heading -> 1 AS level, left(heading ->> 2, 201) AS title
    FROM jsonb_array_elements(s.headings) AS heading WHERE heading -> 0 <= to_jsonb(place.position)
    ORDER BY heading -> 1, heading -> 0 DESC) AS h`
