import { parseQuery, type Query } from './matching/grammar.ts'
import {
  anyOfTerms,
  conjunction,
  exactly,
  excludedTerms,
  inScopes,
  recheckOf,
  type TermQuery,
  type TitleCondition,
  termQueries,
  titleConditions,
} from './matching/query.ts'
import type { Term } from './matching/term.ts'
import type { Recheck, Search } from './statement/request.ts'
import { blockTypeLexeme, knowledgeBaseLexeme, localeLexeme, type ScopeLexemes } from './text/lexemes.ts'

/**
 * A search as terms and as a condition on blocks. The words are stemmed in the given languages. `terms` must all match,
 * and are ranked. `always` is what is checked of every match, whichever of the terms it contains.
 */
export function prepare({ q, scope, blockTypes, syntax, typing }: Search, languages: readonly string[]) {
  const query = parseQuery(q, { syntax, typing })
  const { terms, found, titles, rows, ofTitles } = termsOf(query, languages)
  const excluded = excludedTerms(query, languages)
  const { workspaceIds } = scope
  const required = titles.flatMap(({ title, text }) => (text === null ? [`(${exactly(title)})`] : []))
  const always: Recheck = {
    tsquery: excluded.text.map((term) => `!(${exactly(term)})`).join(' & ') || null,
    title: required.length === 0 ? null : inTitles(required.join(' & ')),
    titles: [
      ...titles.flatMap(({ title, text }) => {
        if (text === null) return []
        return [{ title: inTitles(exactly(title)), text: exactly(text), excluded: false, workspaceIds }]
      }),
      ...excluded.titles.map((title) => {
        return { title: inTitles(exactly(title)), text: null, excluded: true, workspaceIds }
      }),
    ],
    rows,
  }
  const scopes: ScopeLexemes = [
    ...(scope.knowledgeBaseId === undefined ? [] : [knowledgeBaseLexeme(scope.knowledgeBaseId)]),
    ...(typeof scope.locale === 'object' ? [localeLexeme(scope.locale.exact)] : []),
    ...(blockTypes === undefined ? [] : [blockTypes.map(blockTypeLexeme)]),
    ...(ofTitles ? [titleLexeme] : []),
  ]
  const long = recheckOf(terms)
  const tsquery = [long, always.tsquery].filter((part) => part !== null).map((part) => `(${part})`)
  return {
    query,
    terms,
    excluded,
    scopes,
    condition: conjunction(found ?? terms, scopes),
    always,
    recheck: { ...always, tsquery: tsquery.join(' & ') || null },
  }
}

type QueryTerms = {
  terms: readonly (Term & TermQuery)[]
  /** What finds the blocks that can be hits; absent where that are the blocks with all terms. */
  found?: readonly Pick<TermQuery, 'tsquery'>[]
  titles: readonly TitleCondition[]
  rows: Recheck['rows']
  /** Whether only titles can be hits. */
  ofTitles: boolean
}

const titleLexeme = blockTypeLexeme('title')

function inTitles(tsquery: string): string {
  return inScopes(tsquery, [titleLexeme])
}

/**
 * The terms of a query, and what remains of its conditions on titles. A hit contains a word of the query itself. Where
 * every condition may be met by the title, hits are titles, and blocks that contain an alternative to a title.
 */
function termsOf(query: Query, languages: readonly string[]): QueryTerms {
  const terms = termQueries(query, languages)
  const titles = titleConditions(query, languages)
  if (terms.length > 0 || titles.length === 0) return { terms, titles, rows: 'any', ofTitles: false }
  const texts = titles.flatMap(({ text }) => text ?? [])
  if (texts.length === 0) {
    return { terms: titles.map(({ title }) => title), titles: [], rows: 'any', ofTitles: true }
  }
  const [ofTitle, ofText] = [anyOfTerms(titles.map(({ title }) => title)), anyOfTerms(texts)]
  return {
    terms: [anyOfTerms([ofText, ofTitle])],
    // The index names the titles with a word, and not all blocks with it.
    found: [{ tsquery: `(${inTitles(ofTitle.tsquery)}) | ${ofText.tsquery}` }],
    titles,
    rows: { matching: exactly(ofText) },
    ofTitles: false,
  }
}
