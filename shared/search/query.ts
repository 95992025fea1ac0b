import { isIndexable, markStem, quoteLexeme } from './lexemes.ts'
import { isShortGram } from './scripts.ts'
import { stemsIn } from './stems.ts'
import { isStopWord, type Token, tokenise } from './tokenise.ts'

/** A query as it was written: words and quoted phrases in order. */
export type Query = { text: string; clauses: readonly { text: string; phrase: boolean }[] }

/** What has to stand at a position: one of the lexemes, or with `prefix` a gram that begins with one of them. */
export type Step = { lexemes: readonly string[]; prefix: boolean }

/**
 * A word or phrase of a query. A text contains it where the steps of one of its alternatives stand at consecutive
 * positions. `stop` says that it is too frequent to be required.
 */
export type Term = { text: string; phrase: boolean; stop: boolean; alternatives: readonly (readonly Step[])[] }

/**
 * Reads the grammar of decisions 2.8: words and phrases in double quotes; a quote without partner is literal. Never
 * throws; a query without anything to search for has no clauses.
 */
export function parseQuery(q: string): Query {
  const text = q.normalize('NFKC').trim()
  const clauses = Array.from(text.matchAll(clausePattern), ([word, quoted]) => {
    return { text: (quoted ?? word).trim(), phrase: quoted !== undefined }
  })
  return { text, clauses: clauses.filter((clause) => clause.text !== '') }
}

/**
 * The terms that a match must contain, stemmed in the languages in scope. Stop words outside quotes are left out unless
 * there is nothing else; punctuation that no token comes from is not required; a repeated term counts once.
 */
export function requiredTerms(query: Query, languages: readonly string[]): Term[] {
  const terms = new Map<string, Term>()
  for (const clause of query.clauses) {
    const term = termOf(clause, languages)
    const key = JSON.stringify(term.alternatives)
    if (term.alternatives.length > 0 && !terms.has(key)) terms.set(key, term)
  }
  const all = [...terms.values()]
  const telling = all.filter(({ stop }) => !stop)
  return telling.length > 0 ? telling : all
}

/** A term with its `::tsquery` literal and the lexemes by whose frequency its own can be estimated. */
export type TermQuery = { term: string; tsquery: string; lexemes: string[] }

/** One query for each required term, in the order of the query; valid for PostgreSQL whatever the query holds. */
export function termQueries(query: Query, languages: readonly string[]): TermQuery[] {
  return requiredTerms(query, languages).map(({ text, alternatives }) => ({
    term: text,
    tsquery: alternatives.map((steps) => steps.map(stepQuery).join(' <-> ')).join(' | '),
    lexemes: [...new Set(alternatives.flatMap((steps) => steps.flatMap(({ lexemes }) => lexemes)))],
  }))
}

/**
 * The `::tsquery` literal of the blocks that contain all terms and carry all scope lexemes; null when there is nothing
 * to search for, which nothing matches.
 */
export function conjunction(terms: readonly { tsquery: string }[], scopes: readonly string[]): string | null {
  if (terms.length === 0) return null
  return within(allOf(terms), scopes)
}

/**
 * The `::tsquery` literal of the blocks that contain at least half of three or more terms and carry all scope lexemes;
 * null for fewer terms. The terms come rarest first: of more than eight the first six bound the combinations, and the
 * caller counts the others (`matchTerms`).
 */
export function relaxedDisjunctions(terms: readonly { tsquery: string }[], scopes: readonly string[]): string | null {
  if (terms.length < 3) return null
  const used = terms.length > manyTerms ? terms.slice(0, rarestTerms) : terms
  const enough = combinations(used, Math.ceil(used.length / 2))
  return within(enough.map(allOf).join(' | '), scopes)
}

const clausePattern = /"([^"]*)"|(?:[^\s"]|"(?![^"]*"))+/gu
// Words that are joined as natural language joins them are inflected; the parts of identifiers and paths are not.
const naturalPattern = /^[\p{L}\p{M}]+(?:[-'’][\p{L}\p{M}]+)*$/u
const contractionPattern = /^[\p{L}\p{M}]+['’][\p{L}\p{M}]+$/u
const manyTerms = 8
const rarestTerms = 6

function termOf(clause: { text: string; phrase: boolean }, languages: readonly string[]): Term {
  const { text, phrase } = clause
  const tokens = tokenise(text, []).filter(({ lexeme }) => isIndexable(lexeme))
  const words = tokens.filter(({ kind }) => kind === 'word' || kind === 'gram')
  const bare = text.slice(tokens[0]?.start, Math.max(...tokens.map(({ end }) => end)))
  const stemmed = phrase || naturalPattern.test(bare) ? languages : []
  const contraction = words.length === 2 && contractionPattern.test(bare)
  const telling = contraction && !phrase ? withoutStopWords(words, languages) : words
  const whole = phrase || telling.length < words.length ? undefined : wholeOf(tokens)
  // `C++` is one word of which the part alone says something else.
  const readings = whole && words.length === 1 ? [] : [telling, inParts(tokens)].filter(({ length }) => length > 0)
  const alternatives = readings.map((reading) =>
    substringSteps(reading).map(({ token, prefix }) => ({ lexemes: formsOf(text, token, stemmed), prefix })),
  )
  if (whole) alternatives.unshift([{ lexemes: formsOf(text, whole, stemmed), prefix: false }])
  const plain = contraction || (words.length === 1 && !whole)
  const stop = !phrase && plain && words.every(({ lexeme }) => isStopWord(lexeme, languages))
  return { text, phrase, stop, alternatives }
}

/** What an article or ending is joined to by an apostrophe: `homme` of `l'homme`; all where nothing else is left. */
function withoutStopWords(words: readonly Token[], languages: readonly string[]): readonly Token[] {
  const telling = words.filter(({ lexeme }) => !isStopWord(lexeme, languages))
  return telling.length > 0 ? telling : words
}

/** The token that covers all others, where the text is one identifier or path. */
function wholeOf(tokens: readonly Token[]): Token | undefined {
  const [first] = tokens
  return first?.kind === 'whole' && tokens.every(({ end }) => end <= first.end) ? first : undefined
}

/** The tokens in which every word with capitals inside is replaced by its parts; none where there is no such word. */
function inParts(tokens: readonly Token[]): Token[] {
  const asides = tokens.filter(({ kind }) => kind === 'aside')
  if (asides.length === 0) return []
  const others = tokens.filter(({ start, end, kind }) => {
    return kind !== 'whole' && kind !== 'aside' && !asides.some((aside) => aside.start < end && start < aside.end)
  })
  return [...others, ...asides].sort((left, right) => left.start - right.start)
}

/** Leaves out the shorter grams at the end, as what is sought may go on there; of a short run the first is a prefix. */
function substringSteps(words: readonly Token[]): { token: Token; prefix: boolean }[] {
  const last = words.at(-1)
  const tail = words.findIndex(({ kind, end }) => kind === 'gram' && end === last?.end)
  const needed = tail < 0 ? words : words.slice(0, tail + 1)
  return needed.map((token, index) => ({ token, prefix: index === tail && isShortGram(token.lexeme) }))
}

/** Everything a word may stand as in the index: its surface form, its stems, and a surface form that is its stem. */
function formsOf(text: string, token: Token, languages: readonly string[]): string[] {
  const forms = new Set([token.lexeme])
  if (token.kind === 'gram') return [...forms]
  for (const language of languages) {
    for (const stem of stemsIn(language, text.slice(token.start, token.end))) {
      forms.add(markStem(stem))
      if (stemsIn(language, stem).includes(stem)) forms.add(stem)
    }
  }
  return [...forms].filter(isIndexable)
}

function stepQuery({ lexemes, prefix }: Step): string {
  const operands = lexemes.map((lexeme) => `${quoteLexeme(lexeme)}${prefix ? ':*' : ''}`)
  return operands.length === 1 ? operands.join('') : `(${operands.join(' | ')})`
}

function allOf(terms: readonly { tsquery: string }[]): string {
  return terms.map(({ tsquery }) => `(${tsquery})`).join(' & ')
}

function within(tsquery: string, scopes: readonly string[]): string {
  return [`(${tsquery})`, ...scopes.map(quoteLexeme)].join(' & ')
}

function combinations<Item>(items: readonly Item[], size: number): Item[][] {
  if (size === 0) return [[]]
  return items.flatMap((item, index) => combinations(items.slice(index + 1), size - 1).map((rest) => [item, ...rest]))
}
