import Type, { type Static } from 'typebox'
import { prepared, type Queryable, sql } from '../../database/database.ts'
import { row } from '../../database/row.ts'
import { newestEventId } from '../../events/queries.ts'
import { Nullable } from '../../schema/identifiers.ts'
import { tokeniserEpoch } from '../text/tokenise.ts'
import { candidates, matchCounts } from './candidates.ts'
import { inWorkspaces, isIncluded } from './conditions.ts'
import { freshHits, type Hit, HitShape, shortEnough } from './hits.ts'
import { PlaceShape, pathsIn, places } from './places.ts'
import { keepsPlan } from './plan.ts'
import type { SearchRequest, SearchScope } from './request.ts'

const AnswerShape = Type.Object({
  hits: Type.Array(HitShape),
  ...PlaceShape,
  candidates: Type.Number(),
  /** Whether hits were left out because the texts of all would be too long together. */
  shortened: Type.Boolean(),
  document_count: Type.Number(),
  stale_document_count: Type.Number(),
  stale_document_ids: Type.Array(Type.String()),
  lowest_stale_event_id: Nullable(Type.Number()),
  newest_event_id: Type.Number(),
  matching: Type.Array(Type.Number()),
  languages: Type.Array(Type.String()),
  scope_fingerprint: Type.String(),
})

/** What one statement, and so one snapshot, says of a search: its hits, and how fresh the index is. */
export type SearchAnswer = Omit<Static<typeof AnswerShape>, 'hits' | keyof typeof PlaceShape> & { hits: Hit[] }

const AnswerRow = row(AnswerShape)

/**
 * Runs a search. Only hits of documents whose index is current are returned, whatever the caller does with them. The
 * plan of an exhaustive search depends on how frequent the words are, so it is made for each; those of usual ranked ones
 * are kept (`keepsPlan`), as is that of the function that all searches call (sql/0027).
 *
 * Documents indexed by another tokeniser than this one count as stale, before or while they are indexed again. Their
 * hits are hits, since each is matched once more against its text; but what the old index misses nobody can say. They do
 * not lower the watermark: up to it every write has been indexed, by whatever tokeniser, and it must not go back.
 */
export async function runSearch(db: Queryable, request: SearchRequest): Promise<SearchAnswer> {
  const statement = sql.type(AnswerRow)`
    WITH counts AS MATERIALIZED (SELECT ${matchCounts(request)} AS matching),
    candidates AS MATERIALIZED (${candidates(request)}),
    fetched AS MATERIALIZED (${freshHits(request)}),
    hits AS MATERIALIZED (${shortEnough})
    SELECT
      coalesce((SELECT json_agg(h ORDER BY h.estimate DESC, h.document_id, h.ord) FROM hits h), '[]') AS hits,
      ${places},
      (SELECT count(*) FROM candidates) AS candidates,
      (SELECT count(*) FROM fetched) > (SELECT count(*) FROM hits) AS shortened,
      c.document_count, c.stale_document_count, c.stale_document_ids, c.lowest_stale_event_id, c.languages,
      ${newestEventId} AS newest_event_id,
      (SELECT matching FROM counts) AS matching,
      ${fingerprint(request)} AS scope_fingerprint
    FROM ${coverage(request.scope)} c`
  const { hits, knowledge_bases, folders, ...answer } = await db.one(
    keepsPlan(request) ? prepared(statement) : statement,
  )
  const pathOf = pathsIn({ knowledge_bases, folders })
  return { ...answer, hits: hits.map((hit) => ({ ...hit, path: pathOf(hit) })) }
}

function coverage({ workspaceIds, knowledgeBaseId, locale }: SearchScope) {
  const exact = typeof locale === 'object' ? locale.exact : null
  return sql.fragment`
    search_coverage(${sql.array([...workspaceIds], 'text')}, ${knowledgeBaseId ?? null}, ${exact},
      ${locale !== 'default'}, ${tokeniserEpoch})`
}

// Changes whenever a document in scope is added, removed, changed or indexed. The mark of the writes that are not
// indexed yet stands beside their count, since of two writes the later one may carry the earlier time. The newest times
// are read from the ends of their indexes: at 10,000 documents 0.6 ms instead of 8 for an aggregate.
function fingerprint({ scope, order }: SearchRequest) {
  if (order.by === 'score') return sql.fragment`''`
  const inScope = sql.fragment`${inWorkspaces(sql.fragment`d.workspace_id`, scope)} AND ${isIncluded(scope)}`
  return sql.fragment`concat_ws(':',
    c.document_count,
    (SELECT (extract(epoch FROM d.updated_at) * 1000)::bigint FROM documents d
     WHERE ${inScope} ORDER BY d.updated_at DESC LIMIT 1),
    (SELECT (extract(epoch FROM s.indexed_at) * 1000)::bigint FROM search_documents s
     JOIN documents d ON d.workspace_id = s.workspace_id AND d.id = s.document_id
     WHERE ${inScope} ORDER BY s.indexed_at DESC LIMIT 1),
    c.stale_document_count, c.stale_mark)`
}
