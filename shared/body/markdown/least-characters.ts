import { codePoints } from '../normalise-state.ts'

/**
 * A number of characters that the body of a Markdown text has at least, from a glance at the text: the letters of the
 * paragraphs that hold no sign by which a letter could be anything but text (HTML, links, math, tables, fences,
 * references). What may hide more than its own paragraph ends the count. The cost is linear in the text.
 */
export function leastCharacters(markdown: string): number {
  if (/^\ufeff?---/.test(markdown)) return 0
  const end = markdown.search(/<(?:!|\?|pre|script|style|textarea)|\$\$/i)
  const paragraphs = (end === -1 ? markdown : markdown.slice(0, end)).split(/\n[ \t]*\n/)
  // The last paragraph may be the first half of what was cut.
  if (end !== -1) paragraphs.pop()
  return paragraphs.reduce((sum, text) => sum + (/[<>[\]&|$`~]/.test(text) ? 0 : letters(text)), 0)
}

function letters(text: string): number {
  return codePoints(text.replace(/\P{L}+/gu, ''))
}
