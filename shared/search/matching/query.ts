import { isIndexable, markStem, quoteLexeme, type ScopeLexemes } from '../text/lexemes.ts'
import { isShortNgram, withoutVersionSign } from '../text/segments.ts'
import { stemsIn } from '../text/stems.ts'
import { isStopWord, type Token, tokenise } from '../text/tokenise.ts'
import type { Clause, Query } from './grammar.ts'

// Words that natural language joins with hyphens and apostrophes are stemmed; parts of identifiers and paths are not.
const naturalPattern = /^[\p{L}\p{M}\u00ad]+(?:[-'’][\p{L}\p{M}\u00ad]+)*$/u
const contractionPattern = /^[\p{L}\p{M}]+['’][\p{L}\p{M}]+$/u
// The index is asked for at most this many words of one sequence: a bound on hostile queries such as a/a/a/….
const longSequence = 8

/**
 * A condition on a position: one of the lexemes stands there or, with `prefix`, a word or n-gram that begins with one
 * of them.
 */
export type Step = { lexemes: readonly string[]; prefix: boolean }

/** Ways in which a text can contain a term, each a sequence of steps that stand at consecutive positions. */
export type Alternatives = readonly (readonly Step[])[]

/**
 * A word or phrase of a query, or several of which one suffices. A text contains the term where the steps of one of its
 * alternatives stand at consecutive positions. `stop` says that the term is too frequent to be required. `whole` are
 * the alternatives of whole words, if the term also matches the beginnings of words; otherwise null.
 */
export type Term = {
  text: string
  phrase: boolean
  stop: boolean
  alternatives: Alternatives
  whole: Alternatives | null
}

/**
 * The terms that a match must contain, stemmed in the languages in scope. Stop words outside quotes are left out unless
 * nothing else remains. Punctuation without a token is not required. A repeated term counts once. Conditions on titles
 * are no terms (`titleConditions`).
 */
export function requiredTerms(query: Query, languages: readonly string[]): Term[] {
  const terms = new Map<string, Term>()
  for (const clauses of query.required) {
    if (clauses.some(({ inTitle }) => inTitle)) continue
    const term = anyTermOf(clauses.map((clause) => termOf(clause, languages)))
    const key = JSON.stringify(term.alternatives)
    if (term.alternatives.length > 0 && !terms.has(key)) terms.set(key, term)
  }
  const all = [...terms.values()]
  const significant = all.filter(({ stop }) => !stop)
  return significant.length > 0 ? significant : all
}

/** A condition on a document: its title contains `title`, or the block itself contains `text`. */
export type TitleCondition = { title: Term & TermQuery; text: (Term & TermQuery) | null }

/** The conditions of a query on titles, stemmed in the languages in scope. */
export function titleConditions(query: Query, languages: readonly string[]): TitleCondition[] {
  return query.required.flatMap((clauses) => {
    if (!clauses.some(({ inTitle }) => inTitle)) return []
    const ofTitle = anyOfClauses(
      clauses.filter(({ inTitle }) => inTitle),
      languages,
    )
    const ofText = anyOfClauses(
      clauses.filter(({ inTitle }) => !inTitle),
      languages,
    )
    return ofTitle === null ? [] : [{ title: ofTitle, text: ofText }]
  })
}

/** The terms that a match must not contain, and the terms that the title of its document must not contain. */
export function excludedTerms(query: Query, languages: readonly string[]) {
  const termsIn = (inTitle: boolean) =>
    query.excluded.flatMap((clause) => (clause.inTitle === inTitle ? (anyOfClauses([clause], languages) ?? []) : []))
  return { text: termsIn(false), titles: termsIn(true) }
}

/** A term of which one of several terms suffices. */
export function anyOfTerms(terms: readonly Term[]): Term & TermQuery {
  return withQueries(anyTermOf(terms))
}

/** A set of literals for one term. Each literal is a text that PostgreSQL casts to a `tsquery`. */
export type TermQuery = {
  /**
   * Finds the blocks that may contain the term. Of a sequence of more than eight words, the literal asks for only some
   * words.
   */
  tsquery: string
  /** Finds exactly the blocks that contain the term; null where `tsquery` already finds exactly these blocks. */
  full: string | null
  /** Finds a quoted phrase as it is written; null for words, and for phrases whose words have no other forms. */
  verbatim: string | null
  /** Finds the whole words of a term that also matches the beginnings of words; null for every other term. */
  wholeWords: string | null
}

/** The required terms of a query in its order, each with literals that PostgreSQL accepts whatever the query holds. */
export function termQueries(query: Query, languages: readonly string[]): (Term & TermQuery)[] {
  return requiredTerms(query, languages).map(withQueries)
}

/** The `::tsquery` literal of exactly the blocks that contain a term. */
export function exactly({ tsquery, full }: TermQuery): string {
  return full ?? tsquery
}

function withQueries(term: Term): Term & TermQuery {
  const verbatim = verbatimOf(term)
  return {
    ...term,
    tsquery: term.alternatives.map(bounded).join(' | '),
    full: term.alternatives.some(({ length }) => length > longSequence) ? anyReading(term.alternatives) : null,
    verbatim: verbatim && anyReading(verbatim.map((steps) => steps.slice(0, longSequence))),
    wholeWords: term.whole === null ? null : term.whole.map(bounded).join(' | '),
  }
}

function anyOfClauses(clauses: readonly Clause[], languages: readonly string[]): (Term & TermQuery) | null {
  if (clauses.length === 0) return null
  const term = anyTermOf(clauses.map((clause) => termOf(clause, languages)))
  return term.alternatives.length === 0 ? null : withQueries(term)
}

/** The alternatives of a quoted phrase in surface forms alone; null for words, and for phrases without other forms. */
export function verbatimOf({ phrase, alternatives }: Term): Alternatives | null {
  const inflected = alternatives.some((steps) => steps.some(({ lexemes }) => lexemes.length > 1))
  if (!phrase || !inflected) return null
  return alternatives.map((steps) => steps.map((step) => ({ ...step, lexemes: step.lexemes.slice(0, 1) })))
}

/** The alternatives of a term that match the beginnings of words, and so also match the word as it is written. */
export function beginningsOf({ alternatives }: Term): Alternatives {
  return alternatives.filter((steps) => steps.at(-1)?.prefix)
}

/** The `::tsquery` literal of the blocks in scope that contain all terms; null without terms, which matches nothing. */
export function conjunction(terms: readonly { tsquery: string }[], scopes: ScopeLexemes): string | null {
  return terms.length === 0 ? null : requirement(terms, scopes)
}

/** The `::tsquery` literal of the blocks that contain all terms and are in all scopes; null without any. */
export function requirement(terms: readonly { tsquery: string }[], scopes: ScopeLexemes): string | null {
  const required = [...terms.map(({ tsquery }) => tsquery), ...scopes.map(inScope)]
  return required.map((tsquery) => `(${tsquery})`).join(' & ') || null
}

/**
 * Returns a second literal, which a block found by the literal of `conjunction` must also match. The first literal asks
 * the index for only some words of a long sequence. Null where the first literal already asks for every word.
 */
export function recheckOf(terms: readonly { tsquery: string; full: string | null }[]): string | null {
  const long = terms.flatMap(({ full }) => (full === null ? [] : [{ tsquery: full }]))
  return long.length === 0 ? null : allOf(long)
}

/** The number of terms that a relaxed match must contain: half of them, rounded up. */
export function halfOf(terms: readonly unknown[]): number {
  return Math.ceil(terms.length / 2)
}

/**
 * The `::tsquery` literal of the blocks in scope that may contain half of three or more terms; null for fewer terms.
 * The terms come rarest first. The literal asks for two of the rarest terms. So many rarest terms are taken that any
 * half of all terms contains two of them. For three or four terms, two are half. For more terms, the caller counts the
 * terms in the rows found.
 */
export function halfCondition(terms: readonly { tsquery: string }[], scopes: ScopeLexemes): string | null {
  if (terms.length < 3) return null
  return inScopes(anyTwoOf(terms.slice(0, rarestNeeded(terms))), scopes)
}

/** The `::tsquery` literal of the blocks in scope that contain at least one of the terms. */
export function anyTerm(terms: readonly { tsquery: string }[], scopes: ScopeLexemes): string {
  return inScopes(anyOf(terms), scopes)
}

/** The number of rarest terms of which any half of all terms contains at least two. */
export function rarestNeeded(terms: readonly unknown[]): number {
  return terms.length - halfOf(terms) + 2
}

/**
 * Returns the `::tsquery` literal of the blocks with at least two of two or more terms. Either both terms come from one
 * half of the list, or one term comes from each half.
 */
export function anyTwoOf(terms: readonly { tsquery: string }[]): string {
  const middle = Math.ceil(terms.length / 2)
  const halves = [terms.slice(0, middle), terms.slice(middle)]
  const inOne = halves.filter(({ length }) => length > 1).map(anyTwoOf)
  return [`(${halves.map(anyOf).join(' & ')})`, ...inOne].join(' | ')
}

/** The `::tsquery` literal of the blocks that match a tsquery and are in all scopes. */
export function inScopes(tsquery: string, scopes: ScopeLexemes): string {
  return [tsquery, ...scopes.map(inScope)].map((part) => `(${part})`).join(' & ')
}

function inScope(scope: ScopeLexemes[number]): string {
  return [scope].flat().map(quoteLexeme).join(' | ')
}

// Of several terms, one suffices. A stop word among them is left out, unless all are stop words.
function anyTermOf(terms: readonly Term[]): Term {
  const significant = terms.filter(({ stop, alternatives }) => !stop && alternatives.length > 0)
  const [only, ...others] = significant.length > 0 ? significant : terms
  if (only !== undefined && others.length === 0) return only
  const all = significant.length > 0 ? significant : terms
  return {
    text: all.map(({ text }) => text).join(' OR '),
    phrase: false,
    stop: significant.length === 0,
    alternatives: all.flatMap(({ alternatives }) => alternatives),
    whole: all.some(({ whole }) => whole !== null)
      ? all.flatMap(({ whole, alternatives }) => whole ?? alternatives)
      : null,
  }
}

// A version number such as v2.1 is read with its v and without the v.
function termOf({ text, phrase, prefix }: Clause, languages: readonly string[]): Term {
  const written = [...new Set([text, withoutVersionSign(text)])]
  const read = written.map((form) => readingsOf({ text: form, phrase }, languages))
  const words = read.flatMap(({ alternatives }) => alternatives)
  const beginnings = prefix === 'no' ? [] : written.flatMap(beginningsIn)
  const term = { text, phrase, stop: read.every(({ stop }) => stop), alternatives: words, whole: null }
  if (beginnings.length === 0) return term
  if (prefix === 'only') return { ...term, stop: false, alternatives: beginnings }
  return { ...term, alternatives: [...words, ...beginnings], whole: words }
}

/**
 * The alternatives of texts that begin with a word, identifier or path: as a whole, and as its words, of which the last
 * is a beginning. None where the text ends in a script without spaces, since every text is a substring there.
 */
function beginningsIn(text: string): Alternatives {
  const tokens = indexableTokens(text)
  const words = tokens.filter(({ kind }) => kind === 'word' || kind === 'ngram')
  const last = words.at(-1)
  if (last === undefined || last.kind === 'ngram') return []
  const whole = wholeOf(tokens)
  const sequences = [...(whole ? [[whole]] : []), ...(whole && words.length === 1 ? [] : [words])]
  return sequences.map((sequence) =>
    sequence.map(({ lexeme }, index) => ({ lexemes: [lexeme], prefix: index === sequence.length - 1 })),
  )
}

function indexableTokens(text: string): Token[] {
  return tokenise(text, []).filter(({ lexeme }) => isIndexable(lexeme))
}

function readingsOf(
  { text, phrase }: { text: string; phrase: boolean },
  languages: readonly string[],
): Pick<Term, 'stop' | 'alternatives'> {
  const tokens = indexableTokens(text)
  const words = tokens.filter(({ kind }) => kind === 'word' || kind === 'ngram')
  const bare = text.slice(tokens[0]?.start, Math.max(...tokens.map(({ end }) => end)))
  const stemmed = phrase || naturalPattern.test(bare) ? languages : []
  const contraction = words.length === 2 && contractionPattern.test(bare)
  const significant = contraction && !phrase ? withoutStopWords(words, languages) : words
  const whole = phrase || significant.length < words.length ? undefined : wholeOf(tokens)
  // `C++` is read only as a whole, because its part `C` alone means something else.
  const readings =
    whole && words.length === 1 ? [] : [significant, inSubwords(tokens)].filter(({ length }) => length > 0)
  const alternatives = readings.map((reading) =>
    substringSteps(reading).map(({ token, prefix }) => ({ lexemes: formsOf(text, token, stemmed), prefix })),
  )
  if (whole) alternatives.unshift([{ lexemes: formsOf(text, whole, stemmed), prefix: false }])
  const plain = contraction || (words.length === 1 && !whole)
  const stop = !phrase && plain && words.every(({ lexeme }) => isStopWord(lexeme, languages))
  return { stop, alternatives }
}

/** The words that are no stop words, such as `homme` of `l'homme`; all words where every word is a stop word. */
function withoutStopWords(words: readonly Token[], languages: readonly string[]): readonly Token[] {
  const significant = words.filter(({ lexeme }) => !isStopWord(lexeme, languages))
  return significant.length > 0 ? significant : words
}

/** The token that covers all other tokens, where the text is a single identifier or path. */
function wholeOf(tokens: readonly Token[]): Token | undefined {
  const [first] = tokens
  return first?.kind === 'whole' && tokens.every(({ end }) => end <= first.end) ? first : undefined
}

/** The tokens with every word of inner capitals replaced by its subwords; empty where there is no such word. */
function inSubwords(tokens: readonly Token[]): Token[] {
  const repeated = tokens.filter((token) => token.repeated)
  const counted = tokens.filter((token) => token.kind === 'appended' && !token.repeated)
  const appended = [...repeated, ...counted.filter(({ start }) => !repeated.some((token) => token.start === start))]
  if (appended.length === 0) return []
  const others = tokens.filter(({ start, end, kind }) => {
    if (kind === 'whole' || kind === 'appended') return false
    return !appended.some((token) => token.start < end && start < token.end)
  })
  return [...others, ...appended].sort((left, right) => left.start - right.start)
}

/**
 * The steps that find words, or a substring in a script without spaces. The last n-grams of such a query are shorter
 * than usual. They are left out, since the text may continue there. A substring that is shorter than an n-gram is a
 * prefix.
 */
function substringSteps(words: readonly Token[]): { token: Token; prefix: boolean }[] {
  const last = words.at(-1)
  const tail = words.findIndex(({ kind, end }) => kind === 'ngram' && end === last?.end)
  const needed = tail < 0 ? words : words.slice(0, tail + 1)
  return needed.map((token, index) => ({ token, prefix: index === tail && isShortNgram(token.lexeme) }))
}

/**
 * Every lexeme under which the index may hold a word: its surface form, its stems, and the surface form that equals one
 * of its stems.
 */
function formsOf(text: string, token: Token, languages: readonly string[]): string[] {
  const forms = new Set([token.lexeme])
  if (token.kind === 'ngram') return [...forms]
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

function anyReading(alternatives: Alternatives): string {
  return alternatives.map(inOrder).join(' | ')
}

function inOrder(steps: readonly Step[]): string {
  return steps.map(stepQuery).join(' <-> ')
}

function bounded(steps: readonly Step[]): string {
  if (steps.length <= longSequence) return inOrder(steps)
  return `(${[...new Set(steps.map(stepQuery))].slice(0, longSequence).join(' & ')})`
}

function allOf(terms: readonly { tsquery: string }[]): string {
  return terms.map(({ tsquery }) => `(${tsquery})`).join(' & ')
}

function anyOf(terms: readonly { tsquery: string }[]): string {
  return `(${terms.map(({ tsquery }) => `(${tsquery})`).join(' | ')})`
}
