import Type, { type Static } from 'typebox'
import type { Queryable } from '../../../shared/database/database.ts'
import { Refusal } from '../../../shared/errors/errors.ts'
import { Nullable } from '../../../shared/schema/identifiers.ts'
import { presentResult, presentV2Result } from '../../../shared/search/present.ts'
import { SearchProjection, SearchResult, SearchV2Hit } from '../../../shared/search/schema.ts'
import { searchExhaustive, searchTopK } from '../../../shared/search/search.ts'
import { documentSummaries } from '../../../shared/summaries/attach.ts'
import { Summary } from '../../../shared/summaries/schema.ts'
import { route } from '../../http/route.ts'
import { searchOf, searchParameters, searchV2Of, searchV2Parameters } from './parameters.ts'

const tag = 'Search'

const SearchV2Result = Type.Object(
  { ...SearchV2Hit.properties, summary: Type.Optional(Summary) },
  { $id: 'SearchV2Result' },
)
type SearchV2Result = Static<typeof SearchV2Result>

const SearchV2Response = Type.Object(
  {
    query: Type.String(),
    mode: Type.Enum(['topk', 'exhaustive']),
    results: Type.Array(SearchV2Result),
    page: Type.Object(
      { has_more: Type.Boolean(), next_cursor: Nullable(Type.String()) },
      { description: 'ends before `limit` where the texts of the hits would exceed 1 MB together' },
    ),
    projection: SearchProjection,
    suggestion: Type.Optional(
      Nullable(
        Type.String({
          description:
            'in `topk`: where nothing matched all words, the query with its unknown words replaced by near words of the searched documents',
        }),
      ),
    ),
  },
  { $id: 'SearchV2Response' },
)

/** The routes of full-text search. The answers have two forms, version 1 and version 2. */
export const searchRoutes = [
  route({
    method: 'GET',
    path: '/search',
    operationId: 'search',
    tag,
    summary: 'Search, in the form of version 1',
    description:
      'The best hits as a plain list, fewer than `limit` where their texts exceed 1 MB together. Hits of documents whose index is not current are left out.',
    scopes: ['documents:read'],
    bucket: 'search',
    query: searchParameters,
    success: { status: 200, description: 'Hits, the best first', data: SearchResult, list: true },
    errors: ['invalid_query'],
    async handle({ service, caller, query }) {
      const search = searchOf(caller, query)
      const { highlight = false, wait_ms: waitMs = 0 } = query
      await service.searchWaits.untilIndexed({ scope: search.scope, waitMs })
      const { hits } = await searchTopK(service.database, { ...search, relax: false })
      const data = hits.map((hit) => presentResult(hit, { highlight }))
      return { data, page: { cursor: null, next_cursor: null, has_more: false } }
    },
  }),

  route({
    method: 'GET',
    path: '/search/v2',
    operationId: 'searchV2',
    tag,
    summary: 'Search with proof of freshness',
    description:
      'Only hits whose index is current. `projection.complete=false` means that a document in scope is not indexed yet: do not conclude that something does not exist. `topk` returns the best hits, `exhaustive` all of them in pages.',
    scopes: ['documents:read'],
    bucket: 'search',
    query: searchV2Parameters,
    success: { status: 200, description: 'Hits and what the index covers', data: SearchV2Response },
    errors: ['invalid_query', 'invalid_locale', 'search_cursor_stale', 'search_cursor_invalid'],
    async handle({ service, db, caller, query }) {
      const { mode = 'topk', cursor, highlight = false, wait_ms: waitMs = 0 } = query
      const search = searchV2Of(caller, query)
      if (mode === 'topk' && cursor !== undefined) throw new Refusal('search_cursor_invalid')
      // A cursor belongs to the scope as it was, so its page does not wait for the scope to change.
      if (cursor === undefined) await service.searchWaits.untilIndexed({ scope: search.scope, waitMs })
      const outcome =
        mode === 'topk'
          ? await searchTopK(service.database, { ...search, relax: true })
          : await searchExhaustive(db, { ...search, cursor })
      const { hits, hasMore, nextCursor, projection, suggestion } = outcome
      const page = { has_more: hasMore, next_cursor: nextCursor }
      const results = hits.map((hit) => presentV2Result(hit, { highlight }))
      const shown = query.include_summary ? await withSummaries(db, { results, ...search.scope }) : results
      const answer = { query: search.q, mode, results: shown, page, projection }
      return { data: mode === 'topk' ? { ...answer, suggestion } : answer }
    },
  }),
]

/** Adds to each hit the summary of its document. One look-up serves all hits. */
async function withSummaries(
  db: Queryable,
  found: { results: SearchV2Result[]; workspaceIds: readonly string[] },
): Promise<SearchV2Result[]> {
  const ids = [...new Set(found.results.map(({ document_id }) => document_id))]
  const summaries = await documentSummaries(db, { workspaceIds: found.workspaceIds, ids })
  return found.results.map((result) => {
    const summary = summaries.get(result.document_id)
    return summary === undefined ? result : { ...result, summary }
  })
}
