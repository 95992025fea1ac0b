import { type Token, tokenise } from '../text/tokenise.ts'
import { type Query, requiredTerms, type Step, type Term, verbatimOf } from './query.ts'

/** UTF-16 offsets of a match in the original text. */
export type Span = { start: number; end: number }

/**
 * How often each required term of a query stands in a text, in the order of the query, and where the first does;
 * `verbatim` is a quoted phrase that stands there as it was written, not just in other forms.
 */
export type Matches = {
  matchCount: number
  occurrences: { term: string; count: number; verbatim: boolean }[]
  first: Span | null
}

/**
 * Finds in a text what the index found there: `languages` are those in scope, in which the query is stemmed; `language`
 * is the one the text was indexed in, without it the text is stemmed in all of them. Occurrences of a term do not
 * overlap.
 */
export function matchTerms(
  text: string,
  { query, languages, language }: { query: Query; languages: readonly string[]; language?: string },
): Matches {
  const tokens = tokenise(text, language === undefined ? languages : [language])
  return matchesOf(requiredTerms(query, languages), tokens)
}

/** Finds required terms among the tokens of a text; the same as `matchTerms` for who looks at many texts. */
export function matchesOf(terms: readonly Term[], tokens: readonly Token[]): Matches {
  const places = placesOf(tokens)
  const found = terms.map((term) => {
    const verbatim = verbatimOf(term)
    return {
      term: term.text,
      spans: spansOf(term.alternatives, places),
      verbatim: verbatim !== null && spansOf(verbatim, places).length > 0,
    }
  })
  const spans = found.flatMap((term) => term.spans)
  return {
    matchCount: spans.length,
    occurrences: found.map(({ term, spans, verbatim }) => ({ term, count: spans.length, verbatim })),
    first: spans.reduce<Span | null>((best, span) => (best === null || span.start < best.start ? span : best), null),
  }
}

/** The text around a match for display: at most 80 code points on each side, null where there is none. */
export function contextOf(text: string, first: Span): { before: string | null; match: string; after: string | null } {
  // Twice as many units hold that many code points, and more are not looked at.
  const before = Array.from(text.slice(Math.max(0, first.start - 2 * contextLength - 1), first.start))
  const after = Array.from(text.slice(first.end, first.end + 2 * contextLength + 1))
  return {
    before: before.slice(-contextLength).join('') || null,
    match: text.slice(first.start, first.end),
    after: after.slice(0, contextLength).join('') || null,
  }
}

const contextLength = 80

/**
 * Tokens of a text by position, where several stand at the start of a `whole`, and the positions at which a lexeme or the
 * beginning of a gram stands, ascending: so that a term is looked for where its first word is, not everywhere.
 */
type Places = { at: readonly (readonly Token[] | undefined)[]; of: ReadonlyMap<string, readonly number[]> }

function placesOf(tokens: readonly Token[]): Places {
  const at: Token[][] = []
  const of = new Map<string, number[]>()
  for (const token of tokens) {
    const there = at[token.position]
    if (there) there.push(token)
    else at[token.position] = [token]
    for (const name of namesOf(token)) {
      const positions = of.get(name)
      if (positions === undefined) of.set(name, [token.position])
      else if (positions.at(-1) !== token.position) positions.push(token.position)
    }
  }
  return { at, of }
}

function namesOf({ lexeme, stems, kind }: Token): readonly string[] {
  if (kind !== 'gram') return stems.length === 0 ? [lexeme] : [lexeme, ...stems]
  // What a prefix asks for is shorter than a gram.
  const characters = Array.from(lexeme)
  return characters.map((_, index) => characters.slice(0, index + 1).join(''))
}

function spansOf(alternatives: Term['alternatives'], places: Places): Span[] {
  const spans: Span[] = []
  for (const steps of alternatives) {
    const lexemes = steps[0]?.lexemes ?? []
    for (const position of new Set(lexemes.flatMap((lexeme) => places.of.get(lexeme) ?? []))) {
      const span = spanAt(steps, places, position)
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

function spanAt(steps: readonly Step[], places: Places, position: number): Span | null {
  let start: number | null = null
  let end = 0
  for (const [index, step] of steps.entries()) {
    const token = places.at[position + index]?.find((candidate) => fits(step, candidate))
    if (!token) return null
    start ??= token.start
    end = step.prefix ? prefixEnd(step, token) : token.end
  }
  return start === null ? null : { start, end }
}

function fits({ lexemes, prefix }: Step, { lexeme, stems, kind }: Token): boolean {
  if (prefix) return kind === 'gram' && lexemes.some((beginning) => lexeme.startsWith(beginning))
  return lexemes.includes(lexeme) || stems.some((stem) => lexemes.includes(stem))
}

/** A gram is as long as its text but for characters that normalisation joins or expands; those are shown whole. */
function prefixEnd({ lexemes }: Step, { lexeme, start, end }: Token): number {
  const asWritten = lexeme.length === end - start
  return asWritten ? start + (lexemes[0]?.length ?? lexeme.length) : end
}
