import { codePoints } from '../../schema/code-points.ts'

/** A text in NFKC that maps its own UTF-16 offsets back to offsets of the original text. */
type Normalised = { text: string; startAt(offset: number): number; endAt(offset: number): number }

// A combining mark, or a halfwidth sound mark, which is a letter that NFKC turns into a mark.
const mark = '[\\p{M}\\uff9e\\uff9f]'
const mostMarks = 30
const excessMarks = new RegExp(`(${mark}{${mostMarks}})${mark}+`, 'gu')
// A base character with its marks, or a sequence of Hangul jamo. Nothing composes across the border of two clusters.
const clusterPattern = /[\u1100-\u115f]+[\u1160-\u11ff]*\p{M}*|\P{M}[\p{M}\uff9e\uff9f\u1160-\u11ff]*|\p{M}+/gsu
// biome-ignore lint/suspicious/noControlCharactersInRegex: the range is ASCII.
const asciiPattern = /^[\x00-\x7f]*$/
const ignorablePattern = /[\u00ad\u200b-\u200f\u2060\ufeff]|[\ufe00-\ufe0f]/g
// Latin, Greek and Cyrillic accents except the breve of й; Hebrew points; Arabic vowel signs and tatweel.
const accentPattern =
  /(?<!и(?=\u0306))[\u0300-\u036f]|[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0640\u064b-\u065f\u0670]/g
const undecomposedPattern = /[ßæœøđðłıþς’]/g
const undecomposed: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  ł: 'l',
  ı: 'i',
  þ: 'th',
  ς: 'σ',
  '’': "'",
}

/**
 * A text in NFKC that keeps at most 30 combining marks of each character. Unicode calls such a text stream-safe (UAX
 * #15). Without the limit, normalising takes time that grows with the square of the number of marks.
 */
export function streamSafe(text: string): string {
  // NFKC may turn one mark into two, so the marks are limited once more.
  return withoutExcessMarks(withoutExcessMarks(text).normalize('NFKC'))
}

/**
 * Brings a text into the form of `streamSafe` and remembers where each character came from. So a token can be shown as
 * it stands in the original. A character that expands (`㈱` to `(株)`) is shown whole for each of its parts. Marks beyond
 * the limit are not shown.
 */
export function normalise(original: string): Normalised {
  if (streamSafe(original) === original) return { text: original, startAt: identity, endAt: identity }
  let text = ''
  const starts: number[] = []
  const ends: number[] = []
  for (const { 0: cluster, index } of original.matchAll(clusterPattern)) {
    const kept = withoutExcessMarks(cluster)
    const normal = streamSafe(kept)
    text += normal
    // Characters of unchanged length are mapped one by one, so that a neighbour that was composed does not widen their
    // ranges.
    const same = normal.length === kept.length && codePoints(normal) === codePoints(kept)
    for (let unit = 0; unit < normal.length; unit += 1) {
      starts.push(same ? index + unit : index)
      ends.push(same ? index + unit + 1 : index + kept.length)
    }
  }
  return {
    text,
    startAt: (offset) => starts[offset] ?? original.length,
    endAt: (offset) => (offset === 0 ? 0 : (ends[offset - 1] ?? original.length)),
  }
}

/**
 * The form in which words are compared: lower case, without accents and without invisible characters. Marks that are
 * letters of their own (й, dakuten, Indic and Thai vowels) stay. Expects the form of `streamSafe`.
 */
export function fold(text: string): string {
  const lower = text.toLowerCase()
  return asciiPattern.test(lower) ? lower : stripAccents(lower)
}

/** Lower case without invisible characters but with accents: the form that stemmers expect. */
export function lowerCase(text: string): string {
  return text.toLowerCase().replace(ignorablePattern, '').replaceAll('’', "'")
}

function withoutExcessMarks(text: string): string {
  return text.length > mostMarks ? text.replace(excessMarks, '$1') : text
}

// Marks with an invisible character between them come together when this character is removed, so they are limited
// again.
function stripAccents(lower: string): string {
  const bare = lower.normalize('NFKD').replace(accentPattern, '').replace(ignorablePattern, '')
  return withoutExcessMarks(bare)
    .replace(undecomposedPattern, (letter) => undecomposed[letter] ?? letter)
    .normalize('NFC')
}

function identity(offset: number): number {
  return offset
}
