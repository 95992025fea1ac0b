import { fold, normalise } from './fold.ts'
import { markStem } from './lexemes.ts'
import { appendedSegmentsOf, runsOf, type Segment, type SegmentKind, segmentsOf } from './segments.ts'
import { stemsIn, stopWordLanguages } from './stems.ts'

/**
 * The version of the tokeniser. Raise it whenever the same block gives other lexemes than before: every document is
 * then indexed again.
 */
export const tokeniserEpoch = 9

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
  stems: string[]
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
  const runs = runsOf(source.text)
  const tokens: Token[] = []
  let position = 1
  const add = (segments: readonly Segment[]) => {
    let past = position
    for (const { text: surface, start, kind, step, stemmed, repeated, foundAs = surface } of segments) {
      const lexeme = fold(foundAs)
      if (lexeme === '') continue
      const at = position + step
      if (kind !== 'whole') past = at + 1
      tokens.push({
        lexeme,
        stems: stemmed ? differingStems({ surface, lexeme, languages }) : [],
        position: at,
        start: source.startAt(start),
        end: source.endAt(start + surface.length),
        kind,
        repeated,
      })
    }
    position = past
  }
  for (const run of runs) add(segmentsOf(run))
  const addApart = (segments: readonly Segment[], ngram: number) => {
    // One position is left free, so that no phrase continues into the next identifier. Between emoji no position is
    // left free.
    if (segments.length > 0 && ngram === 0) position += 1
    add(segments)
  }
  const appended = runs.map((run) => ({ ngram: run.ngram, ...appendedSegmentsOf(run) }))
  for (const { ngram, counted } of appended) for (const segments of counted) addApart(segments, ngram)
  // Repeated tokens come last. PostgreSQL keeps only the first 255 positions of a word and counts its occurrences by
  // these positions, so repetitions must not take them up.
  for (const { ngram, repeated } of appended) addApart(repeated, ngram)
  return tokens
}

/** Whether a lexeme is a stop word in one of the languages, and so too frequent to be required of a match. */
export function isStopWord(lexeme: string, languages: readonly string[]): boolean {
  const stopping = stopWordLanguages(lexeme)
  return stopping !== undefined && languages.some((language) => stopping.has(language))
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
