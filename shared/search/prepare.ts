import { parseQuery } from './matching/grammar.ts'
import { conjunction, recheckOf, termQueries } from './matching/query.ts'
import type { Search } from './statement/request.ts'
import { blockTypeLexeme, knowledgeBaseLexeme, localeLexeme, type ScopeLexemes } from './text/lexemes.ts'

/** A search as terms and as a condition on blocks. The words are stemmed in the given languages. */
export function prepare(search: Search, languages: readonly string[]) {
  const terms = termQueries(parseQuery(search.q, { typing: search.typing }), languages)
  const scopes = scopesOf(search)
  return { terms, scopes, condition: conjunction(terms, scopes), recheck: recheckOf(terms) }
}

/** What the index of words knows of the scope of a search, apart from its workspaces. */
export function scopesOf({ scope, blockTypes }: Search): ScopeLexemes {
  return [
    ...(scope.knowledgeBaseId === undefined ? [] : [knowledgeBaseLexeme(scope.knowledgeBaseId)]),
    ...(typeof scope.locale === 'object' ? [localeLexeme(scope.locale.exact)] : []),
    ...(blockTypes === undefined ? [] : [blockTypes.map(blockTypeLexeme)]),
  ]
}
