import Type, { type Static } from 'typebox'
import { prepared, type Queryable, sql } from '../../database/database.ts'
import { row } from '../../database/row.ts'
import { newestEventId } from '../../events/queries.ts'
import { Nullable } from '../../schema/identifiers.ts'
import { keptPlans } from '../ranking/tuning.ts'
import { candidates, matchCounts } from './candidates.ts'
import { coverage, scopeFingerprint } from './coverage.ts'
import {
  AncestorShape,
  ancestorColumns,
  freshHits,
  type Hit,
  HitShape,
  hitOrder,
  matchesInDocuments,
  pathsIn,
  shortEnough,
} from './hits.ts'
import { titleTable } from './matches.ts'
import type { RankedTerm, SearchRequest } from './request.ts'
import { scopeTables } from './scope.ts'

const AnswerShape = Type.Object({
  hits: Type.Array(HitShape),
  ...AncestorShape,
  matches_in_documents: Nullable(Type.Record(Type.String(), Type.Number())),
  candidates: Type.Number(),
  /** Whether hits were left out because the texts of all hits would be too long together. */
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

/** The answer of one statement, and so of one snapshot: the hits, and how fresh the index is. */
export type SearchAnswer = Omit<
  Static<typeof AnswerShape>,
  'hits' | 'matches_in_documents' | keyof typeof AncestorShape
> & { hits: Hit[] }

const AnswerRow = row(AnswerShape)

/**
 * Runs a search. Returns only hits of documents whose index is current. The plan of an exhaustive search depends on how
 * frequent the words are, so PostgreSQL plans each such search. Plans of usual ranked searches are kept (`keepsPlan`),
 * as is the plan of the function that every search calls (sql/0027).
 *
 * A document that another version of the tokeniser indexed counts as stale until it is indexed again. The hits of such
 * a document are right, since each hit is matched against its text once more. But nobody knows which hits the old index
 * misses. Such documents do not lower the watermark, which must never go back. Every write up to the watermark has been
 * indexed by some version of the tokeniser.
 */
export async function runSearch(db: Queryable, request: SearchRequest): Promise<SearchAnswer> {
  const statement = sql.type(AnswerRow)`
    WITH ${scopeTables(request.scope, { listed: request.listed === 'scope' })}
    ${titleTable(request.recheck, request.scope)} counts AS MATERIALIZED (SELECT ${matchCounts(request)} AS matching),
    candidates AS MATERIALIZED (${candidates(request)}),
    fetched AS MATERIALIZED (${freshHits(request)}),
    hits AS MATERIALIZED (${shortEnough(request)})
    SELECT
      coalesce((SELECT json_agg(f ORDER BY ${hitOrder(request)}) FROM hits f), '[]') AS hits,
      ${ancestorColumns},
      ${matchesInDocuments(request)} AS matches_in_documents,
      (SELECT count(*) FROM candidates) AS candidates,
      (SELECT count(*) FROM fetched) > (SELECT count(*) FROM hits) AS shortened,
      c.document_count, c.stale_document_count, c.stale_document_ids, c.lowest_stale_event_id, c.languages,
      ${newestEventId} AS newest_event_id,
      (SELECT matching FROM counts) AS matching,
      ${scopeFingerprint(request)} AS scope_fingerprint
    FROM ${coverage(request)} c`
  const {
    hits,
    knowledge_bases,
    folders,
    matches_in_documents: counts,
    ...answer
  } = await db.one(keepsPlan(request) && isKept(statement.sql, request) ? prepared(statement) : statement)
  const pathOf = pathsIn({ knowledge_bases, folders })
  const withPath = hits.map((hit) => ({ ...hit, path: pathOf(hit) }))
  if (counts === null) return { ...answer, hits: withPath }
  return { ...answer, hits: withPath.map((hit) => ({ ...hit, matches_in_document: counts[hit.document_id] ?? 0 })) }
}

/**
 * Whether each connection keeps the plan of a search. Parsing and planning a ranked search costs as much as running it,
 * and its best plan is the same for all words: the rows that the index names, sorted, then their documents one by one.
 * PostgreSQL reuses the generic plan of a prepared statement only if no plan for the actual values looks cheaper. So
 * the values are hidden from the planner. Plans are kept only for passes over one cut for up to four single words, of
 * which the last may be typed. Each combination of filters has a statement of its own, so the number of kept statements
 * is bounded, too (`isKept`).
 */
function keepsPlan({ order, recheck }: SearchRequest): boolean {
  if (order.by === 'document' || order.always !== null || order.inScopeOnly) return false
  if (recheck.title !== null || recheck.titles.length > 0 || recheck.rows !== 'any') return false
  return order.blocks >= keptPlans.blocks && order.terms.length <= keptPlans.terms && order.terms.every(isWord)
}

// The first statements of a process are those that it uses most. Combinations of filters leave room for searches
// without filters.
function isKept(statement: string, { scope }: SearchRequest): boolean {
  if (keptStatements.has(statement)) return true
  if (keptStatements.size >= (scope.filters ? keptPlans.narrowed : keptPlans.statements)) return false
  keptStatements.add(statement)
  return true
}

const keptStatements = new Set<string>()

function isWord({ alternatives, verbatim }: RankedTerm): boolean {
  return verbatim === null && alternatives.length === 1 && alternatives[0]?.length === 1
}
