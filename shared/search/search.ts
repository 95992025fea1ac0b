import { StatementTimeoutError } from 'slonik'
import { type Database, inSnapshot, type Queryable, sql } from '../database/database.ts'
import { Refusal } from '../errors/errors.ts'
import { decodeSearchCursor, encodeSearchCursor, type SearchCursor, sameSearch } from './cursor.ts'
import { withFurtherMatches } from './groups.ts'
import { inAllLanguages } from './languages.ts'
import { halfOf, type TermQuery } from './matching/query.ts'
import type { Term } from './matching/term.ts'
import { narrowingOf, readsOf } from './narrowing.ts'
import type { TopK } from './pass.ts'
import { prepare } from './prepare.ts'
import { type RankedHit, rankHits } from './rank.ts'
import { idf } from './ranking/bm25.ts'
import { type IndexStatistics, indexStatistics, knownSelectivity, termSelectivity } from './ranking/selectivity.ts'
import { matchingLimit, relaxedListBlocks, suggestionMs } from './ranking/tuning.ts'
import { topKOfHalf } from './relaxed.ts'
import { relaxedTerms } from './relaxed-terms.ts'
import type { SearchProjection } from './schema.ts'
import type { Search } from './statement/request.ts'
import { runSearch, type SearchAnswer } from './statement/statement.ts'
import { suggestionFor } from './suggestion.ts'
import { topK } from './top-k.ts'
import { titleInScope } from './workspaces.ts'

/** The result of a search: hits in order, whether there are more, and how much the index covers. */
export type SearchOutcome = {
  hits: RankedHit[]
  hasMore: boolean
  nextCursor: string | null
  projection: SearchProjection
  /** The query with other words, where nothing matched strictly (`suggestionFor`); null for none. */
  suggestion: string | null
}

/** A database that runs single statements, and transactions for statements that need one snapshot. */
export type SearchDatabase = Queryable & Pick<Database, 'transaction'>

/**
 * Finds the best hits of all matches. With `relax`, a search of three or more words that no block contains together
 * returns other blocks, marked as relaxed (api/guide/search.md#relaxed). One snapshot yields the relaxed hits, the
 * member `projection`, and the finding that no block contains all terms. Where no block does, `relax` also asks for a
 * suggestion (api/guide/search.md#suggestion).
 */
export async function searchTopK(
  database: SearchDatabase,
  search: Search & { relax: boolean },
): Promise<SearchOutcome> {
  const { best, languages } = await inAllLanguages(database, search.scope.workspaceIds, async (languages) => {
    const best = await bestOf(database, search, languages)
    return { found: { best, languages }, languages: best.answer.languages }
  })
  const outcome = outcomeOf(best, search)
  const isFound = best.hits.some(({ explanation }) => !explanation.relaxed)
  if (isFound || !search.relax) return outcome
  return { ...outcome, suggestion: await suggestionInTime(database, { search, languages }) }
}

// The answer has its hits already. A suggestion that takes too long is left out.
async function suggestionInTime(
  database: SearchDatabase,
  { search, languages }: { search: Search; languages: readonly string[] },
): Promise<string | null> {
  const query = { ...prepare(search, languages), scope: search.scope, statistics: await indexStatistics(database) }
  const narrowing = await narrowingOf(database, { ...query, recheck: { ...query.recheck, title: null } })
  const blocksInList = narrowing?.listed === 'scope' ? narrowing.blocks : null
  try {
    return await inSnapshot(database, async (snapshot) => {
      await snapshot.query(sql.unsafe`SELECT set_config('statement_timeout', ${String(suggestionMs)}, true)`)
      return suggestionFor(snapshot, { ...query, languages, blocksInList })
    })
  } catch (error) {
    if (error instanceof StatementTimeoutError) return null
    throw error
  }
}

/**
 * Reads one page of all hits, in the order of documents. A cursor is bound to query, filters and scope. Refuses with
 * 409 `search_cursor_invalid` when the cursor belongs to another search. Refuses with 409 `search_cursor_stale` when a
 * document in scope has changed since the page before (api/guide/search.md#exhaustive).
 */
export async function searchExhaustive(
  db: Queryable,
  search: Search & { cursor: string | undefined },
): Promise<SearchOutcome> {
  const cursor = search.cursor === undefined ? null : decodeSearchCursor(search.cursor)
  if (cursor !== null && !sameSearch(cursor, search)) throw new Refusal('search_cursor_invalid')
  const { scope, limit } = search
  const { answer, terms, excluded } = await inAllLanguages(db, scope.workspaceIds, async (languages) => {
    const prepared = prepare(search, languages)
    const { condition, terms, excluded } = prepared
    const statistics = await indexStatistics(db)
    const query = { ...prepared, scope, limit, minimumShouldMatch: terms.length, statistics }
    const narrowing = await narrowingOf(db, query)
    const read = readsOf({ ...query, narrowing }).documents ? 'documents' : 'words'
    const order = { by: 'document' as const, after: cursor, read } as const
    const listed = narrowing?.listed ?? null
    const recheck = { ...prepared.recheck, title: titleInScope(prepared.recheck, query) }
    const answer = await runSearch(db, {
      scope,
      listed,
      countedFrom: 0,
      documentCount: null,
      condition,
      recheck,
      order,
      limit: limit + 1,
    })
    return { found: { answer, terms, excluded }, languages: answer.languages }
  })
  const projection = projectionOf(answer)
  if (cursor !== null && cursor.fingerprint !== answer.scope_fingerprint) {
    throw new Refusal('search_cursor_stale', { details: { watermark: projection.watermark } })
  }
  const page = answer.hits.slice(0, limit)
  const rarities = await estimatedRarities(db, terms)
  const hits = await rankHits(page, {
    terms,
    excluded,
    ...rarities,
    minimumShouldMatch: terms.length,
    order: 'document',
  })
  const last = page.at(-1)
  const hasMore = (answer.hits.length > limit || answer.shortened) && last !== undefined
  const next: SearchCursor | null = hasMore
    ? { documentId: last.document_id, ord: last.ord, fingerprint: answer.scope_fingerprint }
    : null
  return { hits, hasMore, nextCursor: next && encodeSearchCursor(search, next), projection, suggestion: null }
}

// Most searches find something at once, so only searches that find nothing pay for a transaction.
async function bestOf(
  database: SearchDatabase,
  search: Search & { relax: boolean },
  languages: readonly string[],
): Promise<TopK> {
  const statistics = await indexStatistics(database)
  const prepared = prepare({ ...search, typing: false }, languages)
  const narrowing = await narrowingOf(database, { ...search, ...prepared, statistics })
  const queryOf = (read: typeof prepared) => {
    return { ...search, ...read, minimumShouldMatch: read.terms.length, languages, statistics, narrowing }
  }
  const written = queryOf(prepared)
  const typed = search.typing ? queryOf(prepare(search, languages)) : written
  const isTyped = typed.terms.some(({ wholeWords }) => wholeWords !== null)
  const relaxed = isTyped && isLight(typed.terms, statistics) ? typed : written
  const terms = search.relax ? relaxedTerms(relaxed.terms, languages) : null
  const relaxable = terms !== null
  // Whole words come first, so the beginnings of words are looked for only where whole words are few.
  const whole = isTyped && search.sort === 'updated_at' ? null : await topK(database, { ...written, relaxable })
  const isEnough = isTyped ? whole && (whole.hits.length > search.limit || whole.answer.shortened) : whole?.hits.length
  if (whole !== null && isEnough) return whole
  const best = isTyped || whole === null ? await topK(database, { ...typed, relaxable }) : whole
  if (best.hits.length > 0 || terms === null) return best
  return inSnapshot(database, async (snapshot) => {
    const again = await topK(snapshot, { ...typed, relaxable: true })
    if (again.hits.length > 0) return again
    const counted = typed.terms.map(({ tsquery }, index) => [tsquery, again.answer.matching[index] ?? 0] as const)
    const matching = new Map(counted)
    const there = terms.filter(({ tsquery }) => matching.get(tsquery) !== 0)
    // Only the last answer counts the documents in scope.
    if (there.length < halfOf(terms)) return topK(snapshot, typed)
    return topKOfHalf(snapshot, { ...relaxed, terms, matching })
  })
}

/** Whether the lists of all words that begin like a typed word are short enough to be read in a relaxed search. */
function isLight(terms: readonly Term[], statistics: IndexStatistics): boolean {
  return terms.every((term) => {
    return term.whole === null || termSelectivity(term, statistics) * statistics.blocks <= relaxedListBlocks
  })
}

function outcomeOf({ hits, answer }: TopK, { limit, perDocument }: Search): SearchOutcome {
  const best = hits.slice(0, limit)
  return {
    hits: perDocument === undefined ? best : withFurtherMatches(best),
    hasMore: hits.length > limit || answer.shortened,
    nextCursor: null,
    projection: projectionOf(answer),
    suggestion: null,
  }
}

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

// The rarities of the words of an exhaustive search, by the statistics alone. Exact counts are not worth their time,
// since the order of these hits does not depend on rarities.
async function estimatedRarities(db: Queryable, terms: readonly (Term & TermQuery)[]) {
  const statistics = await indexStatistics(db)
  const blocks = Math.max(statistics.blocks, matchingLimit)
  const weights = terms.map((term) =>
    idf({ documents: blocks, matching: (knownSelectivity(term, statistics) ?? 0) * blocks }),
  )
  return { weights, averageLength: statistics.averageLength }
}
