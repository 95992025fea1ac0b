import type { Caller } from '../../../shared/auth/caller.ts'
import type { Search } from '../../../shared/search/statement/request.ts'
import { queryReader } from '../../http/input.ts'
import { searchV2Of, searchV2Parameters } from '../../routes/search/parameters.ts'

/** What a person asked for: the search, how it is read, and the address of the page. */
export type Asked = {
  search: Search
  mode: 'topk' | 'exhaustive'
  cursor: string | undefined
  /** The most milliseconds to wait for the index. */
  waitMs: number
}

// The best hits of a document that are shown. The others are a link away.
const perDocument = 3
const readParameters = queryReader(searchV2Parameters)

// What the page decides by itself, whatever the address says.
const ownParameters = ['syntax', 'limit', 'group_by', 'per_document', 'highlight', 'include_summary']
// What an exhaustive search does not offer.
const rankedParameters = ['sort', 'typing']

/**
 * The parameters of the address as they are kept in the links of the page: those of `GET /search/v2`
 * (api/guide/search.md#scope), without the fields that were left empty.
 */
export function keptParameters(query: URLSearchParams): URLSearchParams {
  const isExhaustive = query.get('mode') === 'exhaustive'
  const dropped = isExhaustive ? [...ownParameters, ...rankedParameters] : [...ownParameters, 'cursor']
  return new URLSearchParams([...query].filter(([name, value]) => value.trim() !== '' && !dropped.includes(name)))
}

/**
 * Reads what was asked for. The query has operators. Refuses as `GET /search/v2` does: 400 `invalid_request`,
 * `invalid_query` and `invalid_locale`.
 */
export function readAsked(caller: Caller, kept: URLSearchParams): Asked {
  const parameters = new URLSearchParams(kept)
  parameters.set('syntax', 'operators')
  const mode = kept.get('mode') === 'exhaustive' ? 'exhaustive' : 'topk'
  if (mode === 'topk') {
    parameters.set('group_by', 'document')
    parameters.set('per_document', String(perDocument))
  }
  const query = readParameters(parameters) as Parameters<typeof searchV2Of>[1]
  return { search: searchV2Of(caller, query), mode, cursor: query.cursor, waitMs: query.wait_ms ?? 0 }
}

/**
 * The address of the page with other parameters. A change to null leaves the parameter out. No address waits for the
 * index unless it says so.
 */
export function searchPath(kept: URLSearchParams, changes: { [name: string]: string | null } = {}): string {
  const parameters = new URLSearchParams(kept)
  for (const [name, value] of Object.entries({ wait_ms: null, ...changes })) {
    if (value === null) parameters.delete(name)
    else parameters.set(name, value)
  }
  return `/search?${parameters}`
}
