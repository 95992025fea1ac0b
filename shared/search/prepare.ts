import { parseQuery } from './matching/grammar.ts'
import { conjunction, recheckOf, termQueries } from './matching/query.ts'
import type { Search } from './statement/request.ts'
import { blockTypeLexeme, knowledgeBaseLexeme, localeLexeme, type ScopeLexemes } from './text/lexemes.ts'

/** A search as terms and as a condition on blocks. The words are stemmed in the given languages. */
export function prepare({ q, scope, blockTypes, typing }: Search, languages: readonly string[]) {
  const query = parseQuery(q, { typing })
  const terms = termQueries(query, languages)
  const scopes: ScopeLexemes = [
    ...(scope.knowledgeBaseId === undefined ? [] : [knowledgeBaseLexeme(scope.knowledgeBaseId)]),
    ...(typeof scope.locale === 'object' ? [localeLexeme(scope.locale.exact)] : []),
    ...(blockTypes === undefined ? [] : [blockTypes.map(blockTypeLexeme)]),
  ]
  return { query, terms, scopes, condition: conjunction(terms, scopes), recheck: recheckOf(terms) }
}
