import { htmlBlockNames, htmlRawNames } from 'micromark-util-html-tag-name'

/**
 * True if a line, as it stands below the first line of a paragraph that begins a document, belongs to that paragraph. A
 * line that begins with white space counts as indented by four columns or more. A line that could be the delimiter row
 * of a table never belongs to it, whatever stands above. The cost is linear in the line.
 */
export function continuesParagraph(line: string): boolean {
  if (/^[ \t]/.test(line)) return /[^ \t]/.test(line)
  return line !== '' && !isDelimiterRow(line) && !beginnings.some((beginning) => beginning.test(line))
}

// The start of each block that can interrupt a paragraph; most lines begin with a letter and fail all at once.
const beginnings = [
  /^#{1,6}(?:[ \t]|$)/,
  /^>/,
  /^(?:[-*+]|1[.)])[ \t]+[^ \t]/,
  /^(?:`{3,}[^`]*|~{3,}.*)$/,
  /^\${2,}[^$]*$/,
  /^([-*_])(?:[ \t]*\1){2,}[ \t]*$/,
  /^(?:=+|-+)[ \t]*$/,
  /^\[\^[^\s\]]+\]:/,
  /^<(?:!--|\?|![a-z]|!\[CDATA\[)/i,
  new RegExp(`^<(?:${htmlRawNames.join('|')})(?:[ \\t>]|$)`, 'i'),
  new RegExp(`^</?(?:${htmlBlockNames.join('|')})(?:[ \\t>]|/>|$)`, 'i'),
]

function isDelimiterRow(line: string): boolean {
  return /^[|:\- \t]+$/.test(line) && line.includes('-')
}
