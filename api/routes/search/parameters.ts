import Type, { type StaticDecode } from 'typebox'
import { type Caller, visibleWorkspaces } from '../../../shared/auth/caller.ts'
import { Refusal } from '../../../shared/errors/errors.ts'
import { canonicalLocale } from '../../../shared/locales/locale.ts'
import { IntegerIdFilter } from '../../../shared/schema/identifiers.ts'
import { parseQuery } from '../../../shared/search/matching/grammar.ts'
import { QueryText, queryText } from '../../../shared/search/schema.ts'
import {
  blockTypes,
  type DocumentFilters,
  type Search,
  type SearchScope,
} from '../../../shared/search/statement/request.ts'
import { metadataFilter, metadataParameters } from '../../http/metadata-parameters.ts'
import { readTime } from '../../http/time-parameter.ts'

const time = (bound: string) =>
  Type.Optional(Type.String({ description: `Unix milliseconds or ISO 8601, ${bound}; UTC when no zone is named` }))

// The parameters of both versions.
const common = {
  q: QueryText,
  knowledge_base_id: Type.Optional(IntegerIdFilter()),
  folder_id: Type.Optional(IntegerIdFilter({ description: 'a folder with everything below it' })),
  document_id: Type.Optional(Type.String({ description: 'one document' })),
  updated_by: Type.Optional(Type.String({ description: 'id of the user who changed the document last' })),
  updated_after: time('inclusive'),
  updated_before: time('exclusive'),
  ...metadataParameters,
  block_type: Type.Optional(
    Type.Array(Type.Enum(blockTypes), {
      description:
        'repeatable: hits of any of these types; `table` and `listItem` are all blocks inside a table or a list',
    }),
  ),
  sort: Type.Optional(
    Type.Enum(['relevance', 'updated_at'], {
      default: 'relevance',
      description: '`updated_at` puts the documents first that were changed last; not with `mode=exhaustive`',
    }),
  ),
  group_by: Type.Optional(
    Type.Enum(['document'], {
      description: 'at most `per_document` hits of one document; not with `mode=exhaustive`',
    }),
  ),
  per_document: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 5, default: 1, description: 'used with `group_by` only' }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
  syntax: Type.Optional(
    Type.Enum(['plain', 'operators'], {
      default: 'plain',
      description: '`operators` adds `-word`, `-"phrase"`, `OR`, `title:word` and `word*` to words and phrases',
    }),
  ),
  highlight: Type.Optional(
    Type.Boolean({ default: false, description: 'adds to each hit where the terms stand in its text' }),
  ),
  wait_ms: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 10_000,
      default: 0,
      description: 'the most milliseconds to wait until everything written in scope before is indexed',
    }),
  ),
}

/** The query of `GET /search`. */
export const searchParameters = Type.Object({
  ...common,
  typing: Type.Optional(Type.Boolean({ default: false, description: 'refused: only `GET /search/v2` has it' })),
})

/** The query of `GET /search/v2`. */
export const searchV2Parameters = Type.Object({
  ...common,
  mode: Type.Optional(Type.Enum(['topk', 'exhaustive'], { default: 'topk' })),
  cursor: Type.Optional(Type.String({ description: 'next_cursor of an exhaustive search' })),
  typing: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        'the last word also matches as the beginning of a word, of at least 2 characters; whole words come first; `topk` only',
    }),
  ),
  locale: Type.Optional(Type.String({ description: 'BCP 47 tag, matched exactly, or `all`' })),
  include_summary: Type.Optional(
    Type.Boolean({ default: false, description: 'adds the summary of the document to each hit' }),
  ),
})

/**
 * The search that a request of version 1 asks for. Refuses malformed times and parameters of version 2 alone with 400
 * `invalid_request`.
 */
export function searchOf(caller: Caller, query: StaticDecode<typeof searchParameters>): Search {
  if (query.typing) throw notOffered('typing', 'is not available in version 1')
  return searchIn(query, scopeOf(caller, query))
}

/**
 * The search that a request of version 2 asks for. Refuses with 400 `invalid_request` malformed times and what an
 * exhaustive search does not offer. Refuses a malformed locale with 400 `invalid_locale`.
 */
export function searchV2Of(caller: Caller, query: StaticDecode<typeof searchV2Parameters>): Search {
  if (query.mode === 'exhaustive') {
    if (query.sort === 'updated_at') throw notOffered('sort')
    if (query.group_by !== undefined) throw notOffered('group_by')
    if (query.typing) throw notOffered('typing')
  }
  return { ...searchIn(query, { ...scopeOf(caller, query), locale: localeScope(query.locale) }), typing: query.typing }
}

type CommonQuery = StaticDecode<typeof searchParameters>

function searchIn(query: CommonQuery, scope: SearchScope): Search {
  const q = queryText(query.q)
  const position = parseQuery(q, { syntax: query.syntax }).exclusionsAlone
  if (position !== null) throw new Refusal('invalid_query', { details: { position } })
  return {
    q,
    syntax: query.syntax,
    scope,
    limit: query.limit ?? 20,
    blockTypes: query.block_type && [...new Set(query.block_type)],
    sort: query.sort,
    perDocument: query.group_by === undefined ? undefined : (query.per_document ?? 1),
  }
}

function scopeOf(caller: Caller, query: CommonQuery): SearchScope {
  return {
    workspaceIds: visibleWorkspaces(caller),
    knowledgeBaseId: query.knowledge_base_id,
    locale: 'default',
    filters: filtersOf(query),
  }
}

function filtersOf(query: CommonQuery): DocumentFilters | null {
  const { updated_after, updated_before } = query
  const filters = {
    folderId: query.folder_id,
    documentId: query.document_id,
    updatedBy: query.updated_by,
    updatedAfter: updated_after === undefined ? undefined : readTime(updated_after, 'updated_after'),
    updatedBefore: updated_before === undefined ? undefined : readTime(updated_before, 'updated_before'),
    metadata: metadataFilter(query),
  }
  return Object.values(filters).every((value) => value === undefined) ? null : filters
}

function notOffered(parameter: string, message = 'is not available with mode=exhaustive'): Refusal {
  return new Refusal('invalid_request', { details: { fields: [{ path: `?${parameter}`, message }] } })
}

function localeScope(locale: string | undefined): SearchScope['locale'] {
  if (locale === undefined) return 'default'
  return locale === 'all' ? 'all' : { exact: canonicalLocale(locale, { status: 400, field: 'locale' }) }
}
