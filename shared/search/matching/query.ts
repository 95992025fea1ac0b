import { streamSafe } from '../text/fold.ts'
import { isIndexable, markStem, quoteLexeme } from '../text/lexemes.ts'
import { isShortGram } from '../text/scripts.ts'
import { withoutVersionSign } from '../text/segments.ts'
import { stemsIn } from '../text/stems.ts'
import { isStopWord, type Token, tokenise } from '../text/tokenise.ts'

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
  const text = streamSafe(q).trim()
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

/**
 * The `::tsquery` literal of a term. Of a long sequence `tsquery` asks for some of its words, and `full` for all of it:
 * the index would read the list of a word as often as it occurs there. `verbatim` is a quoted phrase as it is written,
 * null where it has no other forms.
 */
export type TermQuery = {
  tsquery: string
  full: string | null
  verbatim: string | null
}

/** One query for each required term, in the order of the query; valid for PostgreSQL whatever the query holds. */
export function termQueries(query: Query, languages: readonly string[]): (Term & TermQuery)[] {
  return requiredTerms(query, languages).map((term) => {
    const verbatim = verbatimOf(term)
    return {
      ...term,
      tsquery: term.alternatives.map(bounded).join(' | '),
      full: term.alternatives.some(({ length }) => length > longSequence) ? anyReading(term.alternatives) : null,
      verbatim: verbatim && anyReading(verbatim.map((steps) => steps.slice(0, longSequence))),
    }
  })
}

/** The readings of a quoted phrase in its surface forms alone; null for other terms, and where it has no other forms. */
export function verbatimOf({ phrase, alternatives }: Term): Term['alternatives'] | null {
  const inflected = alternatives.some((steps) => steps.some(({ lexemes }) => lexemes.length > 1))
  if (!phrase || !inflected) return null
  return alternatives.map((steps) => steps.map((step) => ({ ...step, lexemes: step.lexemes.slice(0, 1) })))
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
 * The `::tsquery` literal of blocks that carry all scope lexemes and contain two of the rarest of three or more terms,
 * without which no half is complete; null for fewer terms. Whether there is half of them is for the caller to count,
 * but of four it is. The terms come rarest first.
 */
export function relaxedDisjunctions(terms: readonly { tsquery: string }[], scopes: readonly string[]): string | null {
  if (terms.length < 3) return null
  return within(twoOf(terms.slice(0, neededOf(terms))), scopes)
}

/** Of how many of the rarest terms two are in every half. */
export function neededOf(terms: readonly unknown[]): number {
  return terms.length - halfOf(terms) + 2
}

/** How many of the terms are half of them. */
export function halfOf(terms: readonly unknown[]): number {
  return Math.ceil(terms.length / 2)
}

/** What `conjunction` leaves open of long terms, for a look at the blocks it finds; null when there are none. */
export function remainder(terms: readonly { tsquery: string; full: string | null }[]): string | null {
  const long = terms.flatMap(({ full }) => (full === null ? [] : [{ tsquery: full }]))
  return long.length === 0 ? null : allOf(long)
}

const clausePattern = /"([^"]*)"|(?:[^\s"]|"(?![^"]*"))+/gu
// Words that are joined as natural language joins them are inflected; the parts of identifiers and paths are not.
const naturalPattern = /^[\p{L}\p{M}\u00ad]+(?:[-'’][\p{L}\p{M}\u00ad]+)*$/u
const longSequence = 8
const contractionPattern = /^[\p{L}\p{M}]+['’][\p{L}\p{M}]+$/u

// A version is read with its v and without.
function termOf({ text, phrase }: { text: string; phrase: boolean }, languages: readonly string[]): Term {
  const written = [...new Set([text, withoutVersionSign(text)])]
  const read = written.map((form) => readingsOf({ text: form, phrase }, languages))
  return {
    text,
    phrase,
    stop: read.every(({ stop }) => stop),
    alternatives: read.flatMap(({ alternatives }) => alternatives),
  }
}

function readingsOf(
  { text, phrase }: { text: string; phrase: boolean },
  languages: readonly string[],
): Pick<Term, 'stop' | 'alternatives'> {
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
  return { stop, alternatives }
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
  const repeated = tokens.filter((token) => token.repeated)
  const counted = tokens.filter((token) => token.kind === 'aside' && !token.repeated)
  const asides = [...repeated, ...counted.filter(({ start }) => !repeated.some((token) => token.start === start))]
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

function anyReading(alternatives: Term['alternatives']): string {
  return alternatives.map(inOrder).join(' | ')
}

function inOrder(steps: readonly Step[]): string {
  return steps.map(stepQuery).join(' <-> ')
}

function bounded(steps: readonly Step[]): string {
  if (steps.length <= longSequence) return inOrder(steps)
  return `(${[...new Set(steps.map(stepQuery))].slice(0, longSequence).join(' & ')})`
}

function anyOf(terms: readonly { tsquery: string }[]): string {
  return `(${terms.map(({ tsquery }) => `(${tsquery})`).join(' | ')})`
}

/** The `::tsquery` literal of at least two of two or more terms: both in one half of them, or one in each. */
export function twoOf(terms: readonly { tsquery: string }[]): string {
  const middle = Math.ceil(terms.length / 2)
  const halves = [terms.slice(0, middle), terms.slice(middle)]
  const inOne = halves.filter(({ length }) => length > 1).map(twoOf)
  return [`(${halves.map(anyOf).join(' & ')})`, ...inOne].join(' | ')
}

function allOf(terms: readonly { tsquery: string }[]): string {
  return terms.map(({ tsquery }) => `(${tsquery})`).join(' & ')
}

/** The `::tsquery` literal of what a tsquery asks for and carries all scope lexemes. */
export function within(tsquery: string, scopes: readonly string[]): string {
  return [`(${tsquery})`, ...scopes.map(quoteLexeme)].join(' & ')
}
