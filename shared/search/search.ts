import type { Database, Queryable } from '../database/database.ts'
import { inSnapshot } from '../database/snapshot.ts'
import { Refusal } from '../errors/errors.ts'
import { type Cursor, decodeSearchCursor, encodeSearchCursor, sameSearch } from './cursor.ts'
import { knowledgeBaseLexeme, localeLexeme } from './index/scopes.ts'
import { inAllLanguages } from './languages.ts'
import { conjunction, parseQuery, remainder, type Term, type TermQuery, termQueries } from './matching/query.ts'
import { type Found, rankHits } from './rank.ts'
import { idf } from './ranking/bm25.ts'
import { lexemeFrequencies } from './ranking/frequencies.ts'
import { bestRelaxed } from './ranking/relaxed.ts'
import { knownShare } from './ranking/selectivity.ts'
import type { SearchProjection } from './schema.ts'
import { matchingLimit } from './statement/candidates.ts'
import type { Search } from './statement/request.ts'
import { runSearch, type SearchAnswer } from './statement/statement.ts'
import { bestMatches, type Ranked } from './top-k.ts'

/** What a search answers: hits in order, whether there are more, and how far the index reaches. */
export type SearchOutcome = {
  hits: Found[]
  hasMore: boolean
  nextCursor: string | null
  projection: SearchProjection
}

/** Where the best hits are sought: statements by themselves, and such as must be of one snapshot. */
export type SearchDatabase = Queryable & Pick<Database, 'transaction'>

/**
 * The best hits of all matches (decisions 2.8). `relax`: when no block matches all of three or more terms, those that
 * match at least half of them are returned instead, marked as relaxed. In the snapshot that they and `projection` are of,
 * no block matches all.
 */
export async function searchTopK(
  database: SearchDatabase,
  search: Search & { relax: boolean },
): Promise<SearchOutcome> {
  return inAllLanguages(database, search.scope.workspaceIds, async (languages) => {
    const ranked = await bestOf(database, search, languages)
    return { found: outcomeOf(ranked, search.limit), languages: ranked.answer.languages }
  })
}

// Most searches find something at once, so only the others pay for a transaction.
async function bestOf(
  database: SearchDatabase,
  search: Search & { relax: boolean },
  languages: readonly string[],
): Promise<Ranked> {
  const frequencies = await lexemeFrequencies(database)
  const sought = { ...search, ...prepare(search, languages), frequencies }
  const required = sought.terms.length
  const strict = await bestMatches(database, { ...sought, required })
  if (strict.hits.length > 0 || !search.relax || required < 3) return strict
  return inSnapshot(database, async (snapshot) => {
    const { answer, hits } = await bestMatches(snapshot, { ...sought, required })
    return hits.length > 0 ? { answer, hits } : bestRelaxed(snapshot, { ...sought, matching: answer.matching })
  })
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
  const { scope, limit } = search
  const { answer, ...ranking } = await inAllLanguages(db, scope.workspaceIds, async (languages) => {
    const { condition, remainder, ...prepared } = prepare(search, languages)
    const order = { by: 'document' as const, after: cursor }
    const answer = await runSearch(db, { scope, condition, remainder, order, limit: limit + 1 })
    return { found: { answer, ...prepared }, languages: answer.languages }
  })
  const projection = projectionOf(answer)
  if (cursor !== null && cursor.fingerprint !== answer.scope_fingerprint) {
    throw new Refusal('search_cursor_stale', { details: { watermark: projection.watermark } })
  }
  const page = answer.hits.slice(0, limit)
  const hits = await rankHits(page, {
    ...ranking,
    ...(await rarities(db, ranking.terms)),
    relaxed: false,
    order: 'document',
  })
  const last = page.at(-1)
  const hasMore = (answer.hits.length > limit || answer.shortened) && last !== undefined
  const next: Cursor | null = hasMore
    ? { documentId: last.document_id, ord: last.ord, fingerprint: answer.scope_fingerprint }
    : null
  return { hits, hasMore, nextCursor: next && encodeSearchCursor(search, next), projection }
}

// Of hits in the order of documents the statistics say how rare their words are; nothing depends on it.
async function rarities(db: Queryable, terms: readonly (Term & TermQuery)[]) {
  const frequencies = await lexemeFrequencies(db)
  const blocks = Math.max(frequencies.blocks, matchingLimit)
  const weights = terms.map((term) =>
    idf({ documents: blocks, matching: (knownShare(term, frequencies) ?? 0) * blocks }),
  )
  return { weights, averageLength: frequencies.averageLength }
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

function prepare({ q, scope }: Search, languages: readonly string[]) {
  const terms = termQueries(parseQuery(q), languages)
  const scopes = [
    ...(scope.knowledgeBaseId === undefined ? [] : [knowledgeBaseLexeme(scope.knowledgeBaseId)]),
    ...(typeof scope.locale === 'object' ? [localeLexeme(scope.locale.exact)] : []),
  ]
  const condition = conjunction(terms, scopes)
  return { languages, terms, scopes, condition, remainder: remainder(terms) }
}

function outcomeOf({ hits, answer }: Ranked, limit: number): SearchOutcome {
  return {
    hits: hits.slice(0, limit),
    hasMore: hits.length > limit || answer.shortened,
    nextCursor: null,
    projection: projectionOf(answer),
  }
}
