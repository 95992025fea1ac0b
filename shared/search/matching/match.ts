import { cutText, cutTextBefore } from '../../schema/strings.ts'
import { type Token, tokenise } from '../text/tokenise.ts'
import type { Query } from './grammar.ts'
import { requiredTerms, verbatimOf } from './query.ts'
import type { Alternatives, Step, Term } from './term.ts'

// The code points of the text that are shown on each side of a match.
const contextLength = 80

/** A match in the original text, as UTF-16 offsets. */
export type Span = { start: number; end: number }

/** The occurrences of the terms of a query in a text. Occurrences of one term do not overlap. */
export type Matches = {
  matchCount: number
  /** One member for each term, in the order of the query. */
  occurrences: {
    term: string
    count: number
    /** Whether a quoted phrase stands in the text as it was written, not just in other forms. */
    verbatim: boolean
    /** Whether a word of the term stands in the text as a whole, not just as the beginning of another word. */
    whole: boolean
  }[]
  /** The first match of any term. */
  first: Span | null
  /** The matches of all terms, in any order, that begin so near the first match that its context may show them. */
  near: readonly Span[]
}

/**
 * Finds the required terms of a query in a text, exactly where the index finds them. `languages` are the languages in
 * scope, in which the query is stemmed. `language` is the language in which the text was indexed; without it the text
 * is stemmed in all languages in scope.
 */
export function matchTerms(
  text: string,
  { query, languages, language }: { query: Query; languages: readonly string[]; language?: string },
): Matches {
  const tokens = tokenise(text, language === undefined ? languages : [language])
  return matchesOf(requiredTerms(query, languages), tokens)
}

/**
 * Finds the required terms of a query among the tokens of a text. A caller with many texts computes the terms only
 * once.
 */
export function matchesOf(terms: readonly Term[], tokens: readonly Token[]): Matches {
  const readings = readingsOf(terms)
  const index = indexTokens(tokens, readings)
  const stands = (alternatives: Alternatives) => spansOf(alternatives, index).length > 0
  const found = readings.terms.map(({ term, verbatim }) => ({
    term: term.text,
    spans: spansOf(term.alternatives, index),
    verbatim: verbatim !== null && stands(verbatim),
    whole: term.whole === null || stands(term.whole),
  }))
  const spans = found.flatMap((term) => term.spans)
  const first = spans.reduce<Span | null>(
    (best, span) => (best === null || span.start < best.start ? span : best),
    null,
  )
  return {
    matchCount: spans.length,
    occurrences: found.map(({ spans, ...occurrence }) => ({ ...occurrence, count: spans.length })),
    first,
    near: nearTo(first, spans),
  }
}

/** The matches that begin so near the first match that its context may show them. */
export function nearTo(first: Span | null, spans: readonly Span[]): Span[] {
  return first === null ? [] : spans.filter(({ start }) => start < first.end + 2 * contextLength)
}

/**
 * The text around a match for display: at most 80 code points on each side, in whole graphemes, null where there is no
 * text.
 */
export function contextOf(text: string, first: Span): { before: string | null; match: string; after: string | null } {
  return {
    before: cutTextBefore(text.slice(0, first.start), contextLength) || null,
    match: text.slice(first.start, first.end),
    after: cutText(text.slice(first.end), contextLength) || null,
  }
}

/**
 * A preparation of the terms of a query, which serves for every text. `verbatim` holds the alternatives of a quoted
 * phrase as it was written.
 */
type Readings = {
  terms: readonly { term: Term; verbatim: Alternatives | null }[]
  /** The lexemes with which a match can begin. */
  beginnings: ReadonlySet<string>
  /** Those of the lexemes that need only be the beginning of a word. */
  prefixes: readonly string[]
  /** The number of positions of the longest match. */
  longest: number
}

const knownReadings = new WeakMap<readonly Term[], Readings>()

function readingsOf(terms: readonly Term[]): Readings {
  const known = knownReadings.get(terms)
  if (known !== undefined) return known
  const withVerbatim = terms.map((term) => ({ term, verbatim: verbatimOf(term) }))
  const all = withVerbatim.flatMap(({ term, verbatim }) => [...term.alternatives, ...(verbatim ?? [])])
  const readings = {
    terms: withVerbatim,
    beginnings: new Set(all.flatMap(([first]) => first?.lexemes ?? [])),
    prefixes: [...new Set(all.flatMap(([first]) => (first?.prefix ? first.lexemes : [])))],
    longest: Math.max(0, ...all.map((steps) => steps.length)),
  }
  knownReadings.set(terms, readings)
  return readings
}

/** An index of the tokens of a text at which a match can begin or continue. */
type TokenIndex = {
  /**
   * The tokens by position. Where an identifier or path starts, its token of the kind `whole` and its first word share
   * a position.
   */
  at: readonly (readonly Token[] | undefined)[]
  /** The ascending positions of each lexeme with which a match can begin. Beginnings of n-grams are keys, too. */
  positions: ReadonlyMap<string, readonly number[]>
}

function indexTokens(tokens: readonly Token[], { beginnings, prefixes, longest }: Readings): TokenIndex {
  const positions = new Map<string, number[]>()
  const at: Token[][] = []
  for (const token of tokens) {
    for (const name of namesOf(token, prefixes)) {
      if (!beginnings.has(name)) continue
      const known = positions.get(name)
      if (known === undefined) positions.set(name, [token.position])
      else if (known.at(-1) !== token.position) known.push(token.position)
      for (let next = Math.max(at.length, token.position); next < token.position + longest; next += 1) at[next] = []
    }
  }
  if (at.length > 0) for (const token of tokens) at[token.position]?.push(token)
  return { at, positions }
}

function namesOf({ lexeme, stems, kind }: Token, prefixes: readonly string[]): readonly string[] {
  if (kind !== 'ngram') {
    if (stems.length === 0 && prefixes.length === 0) return [lexeme]
    return [lexeme, ...stems, ...prefixes.filter((prefix) => prefix !== lexeme && lexeme.startsWith(prefix))]
  }
  // The beginnings of an n-gram are kept too, because the last n-gram of a query may be shorter than a full n-gram.
  const names: string[] = []
  for (const character of lexeme) names.push((names.at(-1) ?? '') + character)
  return names
}

function spansOf(alternatives: Alternatives, index: TokenIndex): Span[] {
  const spans: Span[] = []
  for (const steps of alternatives) {
    const lexemes = steps[0]?.lexemes ?? []
    for (const position of new Set(lexemes.flatMap((lexeme) => index.positions.get(lexeme) ?? []))) {
      const span = spanAt(steps, index, position)
      if (span) spans.push(span)
    }
  }
  let end = 0
  return spans
    .sort((left, right) => left.start - right.start || right.end - left.end)
    .filter((span) => {
      const apart = span.start >= end
      if (apart) end = span.end
      return apart
    })
}

// The loops use neither iterators nor closures, which are slower. In a text of one repeated word, this function runs
// for each word.
function spanAt(steps: readonly Step[], index: TokenIndex, position: number): Span | null {
  let start: number | null = null
  let end = 0
  for (let offset = 0; offset < steps.length; offset += 1) {
    const step = steps[offset] as Step
    const token = fitting(step, index.at[position + offset] ?? [])
    if (token === null) return null
    start ??= token.start
    end = step.prefix && token.kind === 'ngram' ? prefixEnd(step, token) : token.end
  }
  return start === null ? null : { start, end }
}

function fitting(step: Step, tokens: readonly Token[]): Token | null {
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at] as Token
    if (fits(step, token)) return token
  }
  return null
}

function fits({ lexemes, prefix }: Step, { lexeme, stems }: Token): boolean {
  if (prefix) return lexemes.some((beginning) => lexeme.startsWith(beginning))
  if (lexemes.includes(lexeme)) return true
  return stems.length > 0 && stems.some((stem) => lexemes.includes(stem))
}

/**
 * The end of a match that ends inside the n-gram of a token. Where normalisation has joined or expanded characters of
 * the n-gram, the n-gram is shown whole.
 */
function prefixEnd({ lexemes }: Step, { lexeme, start, end }: Token): number {
  const asWritten = lexeme.length === end - start
  return asWritten ? start + (lexemes[0]?.length ?? lexeme.length) : end
}
