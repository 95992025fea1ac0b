/** The text on one line: white space of any kind, line ends included, is one space. */
export function oneLine(text: string): string {
  return text.replace(/\s+/gu, ' ').trim()
}

/** At most `limit` code points of a text, the last being `…` where something was left out. */
export function truncate(text: string, limit: number): string {
  if (text.length <= limit) return text
  // Twice as many units hold that many code points, and more are not looked at.
  const characters = Array.from(text.slice(0, 2 * limit + 2))
  if (characters.length <= limit) return text
  return `${withoutEnd(characters.slice(0, Math.max(0, limit - 1))).join('')}…`
}

/**
 * A text of somebody else, such as a model's answer, as plain text that can be stored and shown: without control
 * characters and marks that turn the direction of what follows, well-formed, and of at most `limit` code points.
 */
export function plainAnswer(text: string, limit: number): string {
  const shown = text
    .toWellFormed()
    .replace(/\r\n?/g, '\n')
    .replace(/[^\P{C}\n\t\u200c\u200d]/gu, '')
  // Not by a pattern: it would try every space of a long row of them as the first one at an end.
  const lines = shown.split('\n').map((line) => line.trimEnd())
  return truncate(
    lines
      .join('\n')
      .replace(/\n{3,}/g, '\n\n')
      .trim(),
    limit,
  )
}

/** Characters without white space and joiners at their end. */
function withoutEnd(characters: readonly string[]): readonly string[] {
  return characters.slice(0, characters.findLastIndex((character) => !/[\s\u200d]/u.test(character)) + 1)
}
