import { isIndexable, markStem } from '../text/lexemes.ts'
import { isShortNgram, withoutVersionSign } from '../text/segments.ts'
import { stemsIn } from '../text/stems.ts'
import { isStopWord, type Token, tokenise } from '../text/tokenise.ts'
import type { Clause } from './grammar.ts'

// Words that natural language joins with hyphens and apostrophes are stemmed; parts of identifiers and paths are not.
const naturalPattern = /^[\p{L}\p{M}\u00ad]+(?:[-'’][\p{L}\p{M}\u00ad]+)*$/u
const contractionPattern = /^[\p{L}\p{M}]+['’][\p{L}\p{M}]+$/u

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

/** The alternatives of a term that match the beginnings of words, and so also match the word as it is written. */
export function beginningsOf({ alternatives }: Term): Alternatives {
  return alternatives.filter((steps) => steps.at(-1)?.prefix)
}

/** Makes one term of several, of which one suffices. A stop word among them is left out, unless all are stop words. */
export function anyTermOf(terms: readonly Term[]): Term {
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

/**
 * Reads a clause as a term, stemmed in the languages in scope. A version number such as v2.1 is read with its v and
 * without the v. A clause of punctuation has no alternatives.
 */
export function termOf({ text, phrase, prefix }: Clause, languages: readonly string[]): Term {
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
