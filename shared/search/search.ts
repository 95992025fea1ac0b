import type { Queryable } from '../database.ts'
import { Refusal } from '../errors.ts'
import { idf } from './bm25.ts'
import { matchingLimit } from './candidates.ts'
import { type Cursor, decodeSearchCursor, encodeSearchCursor, sameSearch } from './cursor.ts'
import { lexemeFrequencies } from './frequencies.ts'
import { conjunction, parseQuery, remainder, requiredTerms, type Term, termQueries } from './query.ts'
import { type Found, rankHits } from './rank.ts'
import { bestMatches, type Ranked } from './ranked.ts'
import { bestRelaxed } from './relaxed.ts'
import type { Search } from './request.ts'
import type { SearchProjection } from './schema.ts'
import { knowledgeBaseLexeme, localeLexeme } from './scopes.ts'
import { languagesOf, runSearch, type SearchAnswer } from './statement.ts'
import { knownShare } from './tiers.ts'

/** What a search answers: hits in order, whether there are more, and how far the index reaches. */
export type SearchOutcome = {
  hits: Found[]
  hasMore: boolean
  nextCursor: string | null
  projection: SearchProjection
}

/**
 * The best hits of all matches (decisions 2.8). `relax`: when no block matches all of three or more terms, those that
 * match at least half of them are returned instead, marked as relaxed.
 */
export async function searchTopK(db: Queryable, search: Search & { relax: boolean }): Promise<SearchOutcome> {
  const prepared = await prepare(db, search)
  const { terms } = prepared
  const strict = await bestMatches(db, { ...search, ...prepared, required: terms.length, ...wholeCondition })
  if (strict.hits.length > 0 || !search.relax || terms.length < 3) return outcomeOf(strict, search.limit)
  const blocks = Math.max(prepared.frequencies.blocks, matchingLimit)
  return outcomeOf(
    await bestRelaxed(db, { ...search, ...prepared, blocks, matching: strict.answer.matching }),
    search.limit,
  )
}

/**
 * One page of all hits in document order. A cursor is bound to query, filters and scope: 409 `search_cursor_invalid`
 * when it belongs to another search, `search_cursor_stale` when a document in scope has changed since.
 */
export async function searchExhaustive(
  db: Queryable,
  search: Search & { cursor: string | undefined },
): Promise<SearchOutcome> {
  const cursor = search.cursor === undefined ? null : decodeSearchCursor(search.cursor)
  if (cursor !== null && !sameSearch(cursor, search)) throw new Refusal('search_cursor_invalid')
  const { query, languages, terms, frequencies, ...prepared } = await prepare(db, search)
  const blocks = Math.max(frequencies.blocks, matchingLimit)
  const weights = terms.map((term) =>
    idf({ documents: blocks, matching: (knownShare(term, frequencies) ?? 0) * blocks }),
  )
  const answer = await runSearch(db, {
    scope: search.scope,
    condition: prepared.condition,
    remainder: prepared.remainder,
    order: { by: 'document', after: cursor },
    limit: search.limit + 1,
  })
  const projection = projectionOf(answer)
  if (cursor !== null && cursor.fingerprint !== answer.scope_fingerprint) {
    throw new Refusal('search_cursor_stale', { details: { watermark: projection.watermark } })
  }
  const page = answer.hits.slice(0, search.limit)
  const { averageLength } = frequencies
  const hits = rankHits(page, { query, languages, weights, averageLength, relaxed: false, order: 'document' })
  const last = page.at(-1)
  const hasMore = answer.hits.length > search.limit && last !== undefined
  const next: Cursor | null = hasMore
    ? { documentId: last.document_id, ord: last.ord, fingerprint: answer.scope_fingerprint }
    : null
  return { hits, hasMore, nextCursor: next && encodeSearchCursor(search, next), projection }
}

/** What the index covers (specification 2.8, SearchProjection). */
function projectionOf(answer: SearchAnswer): SearchProjection {
  const complete = answer.stale_document_count === 0
  const upTo =
    answer.lowest_stale_event_id === null
      ? answer.newest_event_id
      : Math.min(answer.newest_event_id, answer.lowest_stale_event_id - 1)
  return {
    watermark: `w1-${upTo}`,
    document_count: answer.document_count,
    current_document_count: answer.document_count - answer.stale_document_count,
    stale_document_count: answer.stale_document_count,
    stale_document_ids: answer.stale_document_ids,
    freshness: complete ? 'current' : 'stale',
    complete,
  }
}

const wholeCondition = { partial: false, expected: null }

async function prepare(db: Queryable, { q, scope }: Search) {
  const query = parseQuery(q)
  const [languages, frequencies] = [await languagesOf(db, scope.workspaceIds), await lexemeFrequencies(db)]
  const required = requiredTerms(query, languages)
  const terms = termQueries(query, languages).map((term, index) => ({ ...(required[index] as Term), ...term }))
  const scopes = [
    ...(scope.knowledgeBaseId === undefined ? [] : [knowledgeBaseLexeme(scope.knowledgeBaseId)]),
    ...(typeof scope.locale === 'object' ? [localeLexeme(scope.locale.exact)] : []),
  ]
  const condition = conjunction(terms, scopes)
  return { query, languages, frequencies, terms, scopes, condition, remainder: remainder(terms) }
}

function outcomeOf({ hits, answer }: Ranked, limit: number): SearchOutcome {
  return {
    hits: hits.slice(0, limit),
    hasMore: hits.length > limit,
    nextCursor: null,
    projection: projectionOf(answer),
  }
}
