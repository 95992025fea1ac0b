import { GraphemeBoundaries } from './grapheme-boundaries.ts'

/** A stretch of a text in UTF-16 units; `end` is excluded. */
export type Stretch = { start: number; end: number }

/** A text that is searched, perhaps several times. */
export class SearchedText {
  readonly text: string
  readonly #graphemes: GraphemeBoundaries
  #folded: Compared | undefined

  constructor(text: string) {
    this.text = text
    this.#graphemes = new GraphemeBoundaries(text)
  }

  /** The form in which the text is compared. */
  compared(matchCase: boolean): Compared {
    if (matchCase) return { text: this.text, originals: null }
    this.#folded ??= folded(this.text)
    return this.#folded
  }

  /**
   * The stretch of the text that stands behind units of its compared form. Null when the stretch would begin or end
   * inside a character that folds to several, or inside a grapheme.
   */
  original({ text, originals }: Compared, { start, end }: Stretch): Stretch | null {
    if (originals !== null) {
      if (originals[start] === originals[start - 1] || originals[end] === originals[end - 1]) return null
    }
    const stretch = {
      start: originals?.[start] ?? start,
      end: end === text.length ? this.text.length : (originals?.[end] ?? end),
    }
    const { start: from, end: to } = stretch
    return this.#graphemes.isBoundary(from) && this.#graphemes.isBoundary(to) ? stretch : null
  }
}

/** Lists the stretches of a text that equal the text of the search, from left to right, without overlaps. */
export type Search = (searched: SearchedText) => Generator<Stretch>

/**
 * Prepares the search for a text, which is not empty. Without `matchCase`, characters are equal when Unicode folds them
 * to the same characters: `STRASSE` is found in `Straße`. A search never finds a part of a grapheme, so a letter never
 * loses its accent. It takes time in proportion to the searched text, whatever the texts are (Knuth, Morris and Pratt).
 */
export function searchFor(find: string, { matchCase }: { matchCase: boolean }): Search {
  const pattern = new SearchedText(find).compared(matchCase).text
  const borders = bordersOf(pattern)
  return function* (searched) {
    const compared = searched.compared(matchCase)
    const { text } = compared
    let matched = 0
    for (let at = 0; at < text.length; at += 1) {
      matched = extended({ pattern, borders }, matched, text.charCodeAt(at))
      if (matched < pattern.length) continue
      const end = at + 1
      const stretch = searched.original(compared, { start: end - pattern.length, end })
      if (stretch !== null) yield stretch
      matched = stretch === null ? (borders[matched - 1] ?? 0) : 0
    }
  }
}

/**
 * A text in the form in which it is compared. `originals` has for each unit the offset of its character in the original
 * text; null where the offsets are the same.
 */
type Compared = { text: string; originals: Uint32Array | null }

// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII
const ascii = /^[\x00-\x7f]*$/

function folded(text: string): Compared {
  if (ascii.test(text)) return { text: text.toLowerCase(), originals: null }
  const parts: string[] = []
  const originals: number[] = []
  let offset = 0
  for (const character of text) {
    const part = foldedCharacter(character)
    parts.push(part)
    for (let unit = 0; unit < part.length; unit += 1) originals.push(offset)
    offset += character.length
  }
  return { text: parts.join(''), originals: Uint32Array.from(originals) }
}

// JavaScript has no case folding. The lower case of the upper case is the same, but for the dotless i, which becomes i.
function foldedCharacter(character: string): string {
  return character.toLowerCase().toUpperCase().toLowerCase()
}

type Pattern = { pattern: string; borders: Uint32Array }

/** The number of units of the pattern that match once the text goes on with a unit. */
function extended({ pattern, borders }: Pattern, matched: number, unit: number): number {
  let count = matched
  while (count > 0 && unit !== pattern.charCodeAt(count)) count = borders[count - 1] as number
  return unit === pattern.charCodeAt(count) ? count + 1 : count
}

/** For each beginning of the pattern, the length of its longest shorter beginning that is also its end. */
function bordersOf(pattern: string): Uint32Array {
  const borders = new Uint32Array(pattern.length)
  for (let at = 1; at < pattern.length; at += 1) {
    borders[at] = extended({ pattern, borders }, borders[at - 1] as number, pattern.charCodeAt(at))
  }
  return borders
}
