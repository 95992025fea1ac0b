import { fold, normalise } from './fold.ts'
import { markStem } from './lexemes.ts'
import { runsOf } from './scripts.ts'
import { asidesOf, type Kind, type Piece, piecesOf } from './segments.ts'
import { stemsIn, stopWordLanguages } from './stems.ts'

/** Raised when the same text gives other lexemes than before: every document is then indexed again. */
export const tokeniserEpoch = 8

/**
 * A token of a text. `lexeme` is the folded surface form and `stems` are its marked stems where they differ from it;
 * `position` counts from 1; `start` and `end` are UTF-16 offsets of the original text.
 *
 * Each `word` stands at a position of its own, whatever capitals or punctuation join it to the next one. A `whole`
 * (identifier, path, `C++`, and the number `2` of a version `v2.1.0`) stands at the position of the first of its words.
 * A `gram` begins at each character of a run without spaces and is shorter at its end, so that any substring is a
 * sequence of grams of which the last may be a prefix. An `aside` stands apart, behind the text, so that it parts no
 * phrase: emoji, and the parts of a word with capitals inside. Where that word is part of an identifier, this follows
 * once more in all its parts (`fetchUser_v2` as fetch, user, v2); these are `repeated`, stand last and do not count.
 */
export type Token = {
  lexeme: string
  stems: string[]
  position: number
  start: number
  end: number
  kind: Kind
  repeated: boolean
}

/**
 * Tokens of a text, stemmed in the languages given (ISO 639-1 or `simple`): in order, but for the asides, which come
 * last. Never throws.
 */
export function tokenise(text: string, languages: readonly string[]): Token[] {
  const source = normalise(text)
  const runs = runsOf(source.text)
  const tokens: Token[] = []
  let position = 1
  const place = (pieces: readonly Piece[]) => {
    let past = position
    for (const { text: surface, start, kind, step, stemmed, repeated, sought = surface } of pieces) {
      const lexeme = fold(sought)
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
  for (const run of runs) place(piecesOf(run))
  const placeApart = (pieces: readonly Piece[], gram: number) => {
    // A position is left free, so that no phrase goes on from one identifier to the next; emoji may follow each other.
    if (pieces.length > 0 && gram === 0) position += 1
    place(pieces)
  }
  const asides = runs.map((run) => ({ gram: run.gram, ...asidesOf(run) }))
  for (const { gram, counted } of asides) for (const pieces of counted) placeApart(pieces, gram)
  // Last, so that PostgreSQL can tell how often a word occurs from its first positions.
  for (const { gram, repeated } of asides) placeApart(repeated, gram)
  return tokens
}

/** Whether a lexeme says too little to be required of a match: a stop word in one of the languages. */
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
