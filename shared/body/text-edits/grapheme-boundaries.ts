/**
 * The boundaries of the graphemes of a text, by the rules of UAX #29 except those for Indic conjuncts and for prefixed
 * marks. `Intl.Segmenter` would go through a whole row of flags or marks again for every question. Here all questions
 * about a text, asked in ascending order, take linear time together.
 */
export class GraphemeBoundaries {
  readonly #text: string
  /** The row of regional indicators that the last question was about. */
  #flags = { start: 0, end: 0 }

  constructor(text: string) {
    this.#text = text
  }

  /** Whether no grapheme has units on both sides of an offset, which is not inside a surrogate pair. */
  isBoundary(offset: number): boolean {
    const text = this.#text
    if (offset <= 0 || offset >= text.length) return true
    const [before, after] = [text.charCodeAt(offset - 1), text.charCodeAt(offset)]
    if (before < firstMark && after < firstMark) return !(before === carriageReturn && after === lineFeed)
    const next = String.fromCodePoint(text.codePointAt(offset) as number)
    if (extending.test(next)) return isControl(before)
    if (before === joiner) return !(pictographic.test(next) && this.#isJoinedPicture(offset - 1))
    if (korean.test(text.slice(offset - 1, offset + 1))) return false
    return !(isFlagHalf(text, offset) && isFlagHalf(text, offset - 2) && this.#isWithinFlag(offset))
  }

  // A joiner joins only emoji: in front of it stands a picture, perhaps with marks or a modifier.
  #isJoinedPicture(joinerAt: number): boolean {
    let at = joinerAt
    let character = ''
    do {
      at -= isLowSurrogate(this.#text.charCodeAt(at - 1)) ? 2 : 1
      character = String.fromCodePoint(this.#text.codePointAt(at) ?? 0)
    } while (at > 0 && extending.test(character))
    return pictographic.test(character)
  }

  // A flag is a pair of regional indicators, counted from the beginning of their row.
  #isWithinFlag(offset: number): boolean {
    let { start, end } = this.#flags
    if (offset < start || offset >= end) {
      for (start = offset; isFlagHalf(this.#text, start - 2); ) start -= 2
      for (end = offset; isFlagHalf(this.#text, end); ) end += 2
      this.#flags = { start, end }
    }
    return (offset - start) % 4 !== 0
  }
}

const carriageReturn = 0x0d
const lineFeed = 0x0a
const joiner = 0x200d
// The first combining mark. No character before it extends the character in front of it.
const firstMark = 0x300
// Marks, joiners and modifiers of emoji.
const extending = /[\p{Grapheme_Extend}\p{Mc}\p{Emoji_Modifier}\u200d\u0e33\u0eb3]/v
// Two parts of a Korean syllable that is written with an initial consonant, a vowel and final consonants.
const initial = '\\u1100-\\u115f\\ua960-\\ua97c'
const vowel = '\\u1160-\\u11a7\\ud7b0-\\ud7c6'
const final = '\\u11a8-\\u11ff\\ud7cb-\\ud7fb'
const syllable = '\\uac00-\\ud7a3'
const korean = new RegExp(
  `^(?:[${initial}][${initial}${vowel}${syllable}]|[${vowel}${syllable}][${vowel}${final}]|[${final}]{2})$`,
)
const pictographic = /\p{Extended_Pictographic}/v

// A control character and a line end take no marks.
function isControl(unit: number): boolean {
  return unit < 0x20 || (unit >= 0x7f && unit < 0xa0) || unit === 0x2028 || unit === 0x2029
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff
}

// Half a flag: a regional indicator, U+1F1E6 to U+1F1FF.
function isFlagHalf(text: string, offset: number): boolean {
  if (offset < 0 || text.charCodeAt(offset) !== 0xd83c) return false
  const low = text.charCodeAt(offset + 1)
  return low >= 0xdde6 && low <= 0xddff
}
