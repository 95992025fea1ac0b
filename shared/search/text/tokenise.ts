import { fold, normalise } from './fold.ts'
import { markStem } from './lexemes.ts'
import { appendedSegmentsOf, type Run, runsOf, type Segment, type SegmentKind, segmentsOf } from './segments.ts'
import { stemsIn, stopWordLanguages } from './stems.ts'

/**
 * The version of the tokeniser. Raise it whenever the same text gives other lexemes than before: every document is then
 * indexed again.
 */
export const tokeniserEpoch = 8

// A process remembers the parts of so many runs, of at most so many UTF-16 units each: some 10 MB.
const rememberedRuns = 20_000
const longestRemembered = 40
const rememberedLanguages = 32

/**
 * A token of a text, of one of four kinds.
 *
 * * `word`: a word at a position of its own, whatever capitals or punctuation join it to the next word.
 * * `whole`: an identifier, a path, `C++`, or the number `2` of a version `v2.1.0`. It stands at the position of the
 *   first of its words.
 * * `ngram`: n characters of a script without spaces. An n-gram begins at each character of its run and is shorter at
 *   the end of the run. So any substring is a sequence of n-grams, of which the last may be a prefix.
 * * `appended`: an emoji, or a subword of a word with inner capitals. It stands behind the text, so that it divides no
 *   phrase. Where that word is part of an identifier, the whole identifier follows once more in all its subwords
 *   (`fetchUser_v2` as fetch, user, v2). These last tokens are `repeated`, and do not count as occurrences.
 */
export type Token = {
  /** The folded surface form. */
  lexeme: string
  /** Marked stems that differ from the surface form. */
  stems: readonly string[]
  /** The position in the tsvector, from 1. */
  position: number
  /** UTF-16 offset of the original text. */
  start: number
  /** UTF-16 offset of the original text. */
  end: number
  kind: SegmentKind
  repeated: boolean
}

/**
 * Cuts a text into tokens and stems them in the given languages (ISO 639-1 codes or `simple`). Tokens come in the order
 * of the text; appended tokens come last. Takes time in proportion to the length of the text, and never throws.
 */
export function tokenise(text: string, languages: readonly string[]): Token[] {
  const source = normalise(text)
  const known = partsKnownIn(languages)
  const runs = runsOf(source.text).map((run) => ({ start: run.start, ngram: run.ngram, ...partsOf(run, known) }))
  const tokens: Token[] = []
  let position = 1
  const add = (parts: readonly Part[], runStart: number) => {
    let past = position
    for (const { lexeme, stems, start, end, kind, step, repeated } of parts) {
      const at = position + step
      if (kind !== 'whole') past = at + 1
      tokens.push({
        lexeme,
        stems,
        position: at,
        start: source.startAt(runStart + start),
        end: source.endAt(runStart + end),
        kind,
        repeated,
      })
    }
    position = past
  }
  for (const { inOrder, start } of runs) add(inOrder, start)
  const addApart = (parts: readonly Part[], run: { start: number; ngram: number }) => {
    // A free position keeps a phrase from continuing into the next identifier. Emoji may follow each other.
    if (parts.length > 0 && run.ngram === 0) position += 1
    add(parts, run.start)
  }
  for (const run of runs) for (const parts of run.counted) addApart(parts, run)
  // Repeated tokens come last, so that the first positions of a lexeme tell PostgreSQL how often the word occurs.
  for (const run of runs) addApart(run.repeated, run)
  return tokens
}

/** Whether a lexeme is a stop word in one of the languages, and so too frequent to be required of a match. */
export function isStopWord(lexeme: string, languages: readonly string[]): boolean {
  const stopping = stopWordLanguages(lexeme)
  return stopping !== undefined && languages.some((language) => stopping.has(language))
}

/** A token of a run. Its offsets are in the run, and its position is counted from the first position of the run. */
type Part = Omit<Token, 'position'> & { step: number }

/** The tokens of a run: in the order of the text, and the two kinds that are appended behind the text. */
type RunParts = { inOrder: readonly Part[]; counted: readonly (readonly Part[])[]; repeated: readonly Part[] }

/** The parts of known runs, in the languages in which they were stemmed. */
type KnownParts = { languages: readonly string[]; words: Map<string, RunParts> }

const knownParts = new Map<string, KnownParts>()
let remembered = 0

function partsKnownIn(languages: readonly string[]): KnownParts {
  const key = languages.join()
  const known = knownParts.get(key)
  if (known !== undefined) return known
  if (knownParts.size >= rememberedLanguages) forgetParts()
  const none: KnownParts = { languages, words: new Map() }
  knownParts.set(key, none)
  return none
}

// Texts repeat their words, so the parts of short words are remembered. N-grams seldom repeat as a whole run.
function partsOf(run: Run, { languages, words }: KnownParts): RunParts {
  if (run.ngram !== 0 || run.text.length > longestRemembered) return cut({ ...run, start: 0 }, languages)
  const known = words.get(run.text)
  if (known !== undefined) return known
  // The text of a run refers to the whole text that it was cut from. A copy lets that text go.
  const text = Buffer.from(run.text, 'utf16le').toString('utf16le')
  const parts = cut({ ...run, text, start: 0 }, languages)
  if (remembered >= rememberedRuns) forgetParts()
  words.set(text, parts)
  remembered += 1
  return parts
}

function forgetParts(): void {
  for (const { words } of knownParts.values()) words.clear()
  knownParts.clear()
  remembered = 0
}

function cut(run: Run, languages: readonly string[]): RunParts {
  const { counted, repeated } = appendedSegmentsOf(run)
  const read = (segments: readonly Segment[]) => segments.flatMap((segment) => partOf(segment, languages) ?? [])
  return { inOrder: read(segmentsOf(run)), counted: counted.map(read), repeated: read(repeated) }
}

function partOf(segment: Segment, languages: readonly string[]): Part | null {
  const { text: surface, start, kind, step, stemmed, repeated, foundAs = surface } = segment
  const lexeme = fold(foundAs)
  if (lexeme === '') return null
  const stems = stemmed ? differingStems({ surface, lexeme, languages }) : []
  return { lexeme, stems, start, end: start + surface.length, kind, step, repeated }
}

function differingStems(word: { surface: string; lexeme: string; languages: readonly string[] }): string[] {
  const stems: string[] = []
  for (const language of word.languages) {
    for (const stem of stemsIn(language, word.surface)) {
      const marked = markStem(stem)
      if (stem !== word.lexeme && !stems.includes(marked)) stems.push(marked)
    }
  }
  return stems
}
