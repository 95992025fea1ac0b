import Type, { type StaticDecode } from 'typebox'
import { type Caller, visibleWorkspaces } from '../../../shared/auth/caller.ts'
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
export const searchParameters = Type.Object(common)

/** The query of `GET /search/v2`. */
export const searchV2Parameters = Type.Object({
  ...common,
  mode: Type.Optional(Type.Enum(['topk', 'exhaustive'], { default: 'topk' })),
  cursor: Type.Optional(Type.String({ description: 'next_cursor of an exhaustive search' })),
  locale: Type.Optional(Type.String({ description: 'BCP 47 tag, matched exactly, or `all`' })),
  include_summary: Type.Optional(
    Type.Boolean({ default: false, description: 'adds the summary of the document to each hit' }),
  ),
})

/** The search that a request of version 1 asks for. */
export function searchOf(caller: Caller, query: StaticDecode<typeof searchParameters>): Search {
  return searchIn(query, scopeOf(caller, query))
}

/** The search that a request of version 2 asks for. Refuses a malformed locale with 400 `invalid_locale`. */
export function searchV2Of(caller: Caller, query: StaticDecode<typeof searchV2Parameters>): Search {
  return searchIn(query, { ...scopeOf(caller, query), locale: localeScope(query.locale) })
}

type CommonQuery = StaticDecode<typeof searchParameters>

function searchIn({ q, limit = 20 }: CommonQuery, scope: SearchScope): Search {
  return { q: queryText(q), scope, limit }
}

function scopeOf(caller: Caller, { knowledge_base_id }: CommonQuery): SearchScope {
  return { workspaceIds: visibleWorkspaces(caller), knowledgeBaseId: knowledge_base_id, locale: 'default' }
}

function localeScope(locale: string | undefined): SearchScope['locale'] {
  if (locale === undefined) return 'default'
  return locale === 'all' ? 'all' : { exact: canonicalLocale(locale, { status: 400, field: 'locale' }) }
}
