import { type Caller, visibleWorkspaces } from '../../../shared/auth/caller.ts'
import { titlesOf } from '../../../shared/documents/queries.ts'
import { Refusal } from '../../../shared/errors/errors.ts'
import { presentV2Result } from '../../../shared/search/present.ts'
import type { SearchProjection, SearchV2Hit } from '../../../shared/search/schema.ts'
import { searchExhaustive, searchTopK } from '../../../shared/search/search.ts'
import type { Service } from '../../http/service.ts'
import { type Asked, readAsked, searchPath } from './asked.ts'
import { type FoundDocument, foundDocuments } from './found.ts'

/** What the results of the page show. */
export type Answer = {
  /** What was found, in one sentence; empty when nothing was asked for. */
  status: string
  documents: FoundDocument[]
  /** Whether the hits contain only some of the words. */
  isRelaxed: boolean
  /** The query that may have been meant, and the address of its search. */
  suggestion: { q: string; path: string } | null
  freshness: Freshness | null
  /** The address of the next page, and of all hits. */
  next: string | null
  all: string | null
  /** Why there is no answer, and where to begin again. */
  problem: { message: string; restart: string | null } | null
}

/** What the index covers. `waiting` are some of the documents that are not included yet. */
export type Freshness = {
  isComplete: boolean
  message: string
  again: string
  waiting: { id: string; title: string }[]
}

// The most documents that are named as not included yet, and the milliseconds that a repeated search waits for them.
const mostNamed = 10
const repeatedWaitMs = 5000

const empty: Answer = {
  status: '',
  documents: [],
  isRelaxed: false,
  suggestion: null,
  freshness: null,
  next: null,
  all: null,
  problem: null,
}

/**
 * Searches as `GET /search/v2` does, and puts the answer into words. A refusal of that operation becomes a problem in
 * words. `kept` are the parameters of the address.
 */
export async function answerTo(
  { service, caller }: { service: Service; caller: Caller },
  kept: URLSearchParams,
): Promise<{ status: number; answer: Answer }> {
  if (!kept.has('q')) return { status: 200, answer: empty }
  try {
    const asked = readAsked(caller, kept)
    return { status: 200, answer: await searched({ service, caller }, asked, kept) }
  } catch (error) {
    const problem = error instanceof Refusal ? problemOf(error, kept) : null
    if (problem === null || !(error instanceof Refusal)) throw error
    return { status: error.status, answer: { ...empty, status: problem.message, problem } }
  }
}

async function searched(
  { service, caller }: { service: Service; caller: Caller },
  { search, mode, cursor, waitMs }: Asked,
  kept: URLSearchParams,
): Promise<Answer> {
  if (cursor === undefined) await service.searchWaits.untilIndexed({ scope: search.scope, waitMs })
  const outcome =
    mode === 'topk'
      ? await searchTopK(service.database, { ...search, relax: true })
      : await searchExhaustive(service.database, { ...search, cursor })
  const hits = outcome.hits.map((hit) => presentV2Result(hit, { highlight: true }))
  const documents = foundDocuments(hits, kept)
  const { projection, suggestion, hasMore, nextCursor } = outcome
  const isRanked = mode === 'topk'
  return {
    ...empty,
    status: statusOf({ hits, documents, hasMore, isRanked, projection }),
    documents,
    isRelaxed: hits.some(({ score_explanation }) => score_explanation.relaxed),
    suggestion: suggestion === null ? null : { q: suggestion, path: searchPath(kept, { q: suggestion, typing: null }) },
    freshness: await freshnessOf({ service, caller }, projection, kept),
    next: nextCursor === null ? null : searchPath(kept, { cursor: nextCursor }),
    all: isRanked && hasMore ? allPath(kept) : null,
  }
}

// The address of all hits. A search that knows no words that are still being typed asks for words that begin so.
function allPath(kept: URLSearchParams): string {
  const q = kept.get('q')?.trim() ?? ''
  const isOpen = kept.get('typing') === 'true' && /[\p{L}\p{N}]{2}$/u.test(q) && q.split('"').length % 2 === 1
  return searchPath(kept, { q: isOpen ? `${q}*` : q, mode: 'exhaustive', typing: null, sort: null })
}

function statusOf(found: {
  hits: readonly SearchV2Hit[]
  documents: readonly FoundDocument[]
  hasMore: boolean
  isRanked: boolean
  projection: SearchProjection
}): string {
  const { hits, documents, hasMore, isRanked, projection } = found
  if (hits.length === 0) return projection.complete ? 'Nothing was found.' : 'Nothing was found so far.'
  const further = documents.reduce((sum, { more }) => sum + (more?.count ?? 0), 0)
  const places = `in ${counted(documents.length, 'document')}`
  if (isRanked && hasMore) return `The best matches, ${places}. There are more.`
  if (!isRanked) return `${counted(hits.length, 'match', 'matches')} on this page, ${places}.`
  return `${counted(hits.length + further, 'match', 'matches')} ${places}.`
}

async function freshnessOf(
  { service, caller }: { service: Service; caller: Caller },
  { document_count: all, stale_document_count: stale, stale_document_ids: ids }: SearchProjection,
  kept: URLSearchParams,
): Promise<Freshness> {
  const again = searchPath(kept, { wait_ms: String(repeatedWaitMs), cursor: null })
  if (stale === 0) {
    const message =
      all === 0 ? 'There is no document to search here.' : `Searched ${counted(all, 'document')}, all as they are now.`
    return { isComplete: true, message, again, waiting: [] }
  }
  const workspaceIds = visibleWorkspaces(caller)
  const waiting = await titlesOf(service.database, { documentIds: ids.slice(0, mostNamed), workspaceIds })
  const message = `${counted(stale, 'document')} of ${all} not included yet, because the text has just changed.`
  return { isComplete: false, message, again, waiting: [...waiting] }
}

// The codes of `GET /search/v2` in words; null for a refusal that has nothing to do with what was asked for.
function problemOf({ code, details }: Refusal, kept: URLSearchParams): Answer['problem'] {
  const restart = searchPath(kept, { cursor: null })
  if (code === 'search_cursor_stale') {
    return { message: 'A document has changed since the page before, so the pages no longer fit together.', restart }
  }
  if (code === 'search_cursor_invalid') return { message: 'This page belongs to another search.', restart }
  if (code === 'invalid_query') {
    return { message: 'A search needs a word to look for besides the words that it leaves out.', restart: null }
  }
  if (code === 'invalid_locale') return { message: 'The language is not a language tag.', restart: null }
  if (code !== 'invalid_request') return null
  const { fields = [] } = details as { fields?: { path: string; message: string }[] }
  const [field] = fields
  if (field === undefined) return null
  const [, name = ''] = /^\?(\w+)/.exec(field.path) ?? []
  return { message: `${fieldNames[name] ?? name}: ${field.message}.`, restart: null }
}

const fieldNames: Record<string, string> = {
  q: 'The words to look for',
  tag: 'A tag',
  block_type: 'Where the words stand',
  knowledge_base_id: 'The knowledge base',
  updated_after: 'The first day',
  updated_before: 'The last day',
}

function counted(number: number, one: string, several = `${one}s`): string {
  return `${number} ${number === 1 ? one : several}`
}
