import { quoteLexeme, type ScopeLexemes } from '../text/lexemes.ts'
import type { Clause, Query } from './grammar.ts'
import { type Alternatives, anyTermOf, type Step, type Term, termOf } from './term.ts'

// The index is asked for at most this many words of one sequence: a bound on hostile queries such as a/a/a/….
const longSequence = 8

/**
 * The terms that a match must contain, stemmed in the languages in scope. Stop words outside quotes are left out unless
 * nothing else remains. Punctuation without a token is not required. A repeated term counts once. Conditions on titles
 * are no terms (`titleConditions`).
 */
export function requiredTerms(query: Query, languages: readonly string[]): Term[] {
  return requirementsOf(query, languages).flatMap(({ title, text }) => (title === null && text !== null ? [text] : []))
}

/** A condition on a document: its title contains `title`, or the block itself contains `text`. */
export type TitleCondition = { title: Term & TermQuery; text: (Term & TermQuery) | null }

/** The conditions of a query on titles, stemmed in the languages in scope. Stop words are left out as of the terms. */
export function titleConditions(query: Query, languages: readonly string[]): TitleCondition[] {
  return requirementsOf(query, languages).flatMap(({ title, text }) =>
    title === null ? [] : [{ title: withQueries(title), text: text && withQueries(text) }],
  )
}

/** One requirement of a query: a term of the block, of the title of its document, or either. */
type Requirement = { title: Term | null; text: Term | null }

function requirementsOf(query: Query, languages: readonly string[]): Requirement[] {
  const requirements = new Map<string, Requirement>()
  for (const clauses of query.required) {
    const termIn = (inTitle: boolean) =>
      anyOfClauses(
        clauses.filter((clause) => clause.inTitle === inTitle),
        languages,
      )
    const requirement = withoutStopWord({ title: termIn(true), text: termIn(false) })
    const { title, text } = requirement
    const key = JSON.stringify([title?.alternatives, text?.alternatives])
    if ((title !== null || text !== null) && !requirements.has(key)) requirements.set(key, requirement)
  }
  const all = [...requirements.values()]
  const significant = all.filter((requirement) => !isStop(requirement))
  return significant.length > 0 ? significant : all
}

// A stop word that is an alternative to another word is left out.
function withoutStopWord({ title, text }: Requirement): Requirement {
  if (title === null || text === null || title.stop === text.stop) return { title, text }
  return title.stop ? { title: null, text } : { title, text: null }
}

function isStop({ title, text }: Requirement): boolean {
  return (title?.stop ?? true) && (text?.stop ?? true)
}

/** The terms that a match must not contain, and those that the title of its document must not contain. */
export type ExcludedTerms = { text: readonly (Term & TermQuery)[]; titles: readonly (Term & TermQuery)[] }

/** The terms that a match must not contain, and the terms that the title of its document must not contain. */
export function excludedTerms(query: Query, languages: readonly string[]): ExcludedTerms {
  const termsIn = (inTitle: boolean) =>
    query.excluded
      .filter((clause) => clause.inTitle === inTitle)
      .flatMap((clause) => anyOfClauses([clause], languages) ?? [])
      .map(withQueries)
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

function anyOfClauses(clauses: readonly Clause[], languages: readonly string[]): Term | null {
  if (clauses.length === 0) return null
  const term = anyTermOf(clauses.map((clause) => termOf(clause, languages)))
  return term.alternatives.length === 0 ? null : term
}

/** The alternatives of a quoted phrase in surface forms alone; null for words, and for phrases without other forms. */
export function verbatimOf({ phrase, alternatives }: Term): Alternatives | null {
  const inflected = alternatives.some((steps) => steps.some(({ lexemes }) => lexemes.length > 1))
  if (!phrase || !inflected) return null
  return alternatives.map((steps) => steps.map((step) => ({ ...step, lexemes: step.lexemes.slice(0, 1) })))
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
