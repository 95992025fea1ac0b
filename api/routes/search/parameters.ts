import Type, { type StaticDecode } from 'typebox'
import { type Caller, visibleWorkspaces } from '../../../shared/auth/caller.ts'
import { Refusal } from '../../../shared/errors/errors.ts'
import { canonicalLocale } from '../../../shared/locales/locale.ts'
import { IntegerIdFilter } from '../../../shared/schema/identifiers.ts'
import { QueryText, queryText } from '../../../shared/search/schema.ts'
import type { Search, SearchScope } from '../../../shared/search/statement/request.ts'

// The parameters of both versions.
const common = {
  q: QueryText,
  knowledge_base_id: Type.Optional(IntegerIdFilter()),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
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
 * The search that a request of version 1 asks for. Refuses parameters of version 2 alone with 400 `invalid_request`.
 */
export function searchOf(caller: Caller, query: StaticDecode<typeof searchParameters>): Search {
  if (query.typing) throw onlyInTopK('typing')
  return searchIn(query, scopeOf(caller, query))
}

/**
 * The search that a request of version 2 asks for. Refuses a malformed locale with 400 `invalid_locale`, and a
 * parameter of `topk` in an exhaustive search with 400 `invalid_request`.
 */
export function searchV2Of(caller: Caller, query: StaticDecode<typeof searchV2Parameters>): Search {
  if (query.mode === 'exhaustive' && query.typing) throw onlyInTopK('typing')
  return { ...searchIn(query, { ...scopeOf(caller, query), locale: localeScope(query.locale) }), typing: query.typing }
}

type CommonQuery = StaticDecode<typeof searchParameters>

function searchIn({ q, limit = 20 }: CommonQuery, scope: SearchScope): Search {
  return { q: queryText(q), scope, limit }
}

function scopeOf(caller: Caller, { knowledge_base_id }: CommonQuery): SearchScope {
  return { workspaceIds: visibleWorkspaces(caller), knowledgeBaseId: knowledge_base_id, locale: 'default' }
}

function onlyInTopK(name: string): Refusal {
  return new Refusal('invalid_request', {
    details: { fields: [{ path: `?${name}`, message: 'only in GET /search/v2 with mode=topk' }] },
  })
}

function localeScope(locale: string | undefined): SearchScope['locale'] {
  if (locale === undefined) return 'default'
  return locale === 'all' ? 'all' : { exact: canonicalLocale(locale, { status: 400, field: 'locale' }) }
}
