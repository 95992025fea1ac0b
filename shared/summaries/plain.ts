import { cutText } from '../schema/strings.ts'
/** Returns the text as one line: white space of any kind, line ends included, becomes one space. */
export function oneLine(text: string): string {
  return text.replace(/\s+/gu, ' ').trim()
}

/** Returns at most `limit` code points of a text; the last one is `…` when something was cut off. */
export function truncate(text: string, limit: number): string {
  if (text.length <= limit) return text
  // At most two UTF-16 units make a code point, so no more than twice as many units are read.
  const characters = Array.from(text.slice(0, 2 * limit + 2))
  if (characters.length <= limit) return text
  return `${withoutEnd(Array.from(cutText(text, Math.max(0, limit - 1)))).join('')}…`
}

/**
 * Returns a text from outside, such as a model's answer, as plain text that can be stored and shown. The result is
 * well-formed, has at most `limit` code points, and contains no control characters and no marks that change the text
 * direction.
 */
export function plainAnswer(text: string, limit: number): string {
  const shown = text
    .toWellFormed()
    .replace(/\r\n?/g, '\n')
    .replace(/[^\P{C}\n\t\u200c\u200d]/gu, '')
  // No regular expression trims the lines. An expression would try a match at every space of a long row of spaces. Its
  // time would grow with the square of the row's length.
  const lines = shown.split('\n').map((line) => line.trimEnd())
  return truncate(
    lines
      .join('\n')
      .replace(/\n{3,}/g, '\n\n')
      .trim(),
    limit,
  )
}

// Removes white space and joiners from the end.
function withoutEnd(characters: readonly string[]): readonly string[] {
  return characters.slice(0, characters.findLastIndex((character) => !/[\s\u200d]/u.test(character)) + 1)
}
