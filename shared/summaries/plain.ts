/** The text on one line: white space of any kind, line ends included, is one space. */
export function oneLine(text: string): string {
  return text.replace(/\s+/gu, ' ').trim()
}

/** At most `limit` code points of a text, the last being `…` where something was left out. */
export function cut(text: string, limit: number): string {
  if (text.length <= limit) return text
  const characters = Array.from(text)
  if (characters.length <= limit) return text
  const kept = characters.slice(0, Math.max(0, limit - 1)).join('')
  return `${kept.replace(/[\s\u200d]+$/u, '')}…`
}

/**
 * A text of somebody else, such as a model's answer, as plain text that can be stored and shown: without control
 * characters and marks that turn the direction of what follows, well-formed, and of at most `limit` code points.
 */
export function plainAnswer(text: string, limit: number): string {
  const lines = text
    .toWellFormed()
    .replace(/\r\n?/g, '\n')
    .replace(/[^\P{C}\n\t\u200c\u200d]/gu, '')
    .replace(/[ \t]+$/gm, '')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
  return cut(lines, limit)
}
