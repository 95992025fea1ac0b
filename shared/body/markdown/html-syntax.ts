import { parse, preprocess } from 'micromark'
import * as commonmark from 'micromark-core-commonmark'
import { htmlBlockNames, htmlRawNames } from 'micromark-util-html-tag-name'
import type { Construct, Extension, Tokenizer } from './grammar.ts'

const simpleTag = /^<(?:[a-z][a-z0-9-]*(?:[ \t]+[a-z_:][\w.:-]*(?:="[^"\n]*")?)*[ \t]*\/?|\/[a-z][a-z0-9-]*)>$/i
const lineBreak = /^<br\s*\/?>$/i

// The start of each block that can interrupt a paragraph.
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

/**
 * True if Markdown reads the text, alone between other blocks, as one block of raw HTML. HTML that is not closed
 * swallows the rest of its container, so the answer is true only for the last block. The time is linear in the text.
 */
export function isHtmlBlock(html: string, isLast: boolean): boolean {
  if (lineBreak.test(html) || html.includes('\r') || html.endsWith('\n')) return false
  return htmlBlockEnd(isLast ? html : `${html}\n\nx`) === html.length
}

/**
 * True if Markdown reads the text, within other text, as one node of inline HTML. The answer is false where a further
 * line might be the delimiter row of a table, whether the other lines form a table or not. The time is linear in the
 * text.
 */
export function isHtmlInline(html: string): boolean {
  if (simpleTag.test(html)) return true
  const written = indentInlineHtml(html)
  if (!html.endsWith('>') || html.includes('\r') || inlineHtmlEnd(written) !== written.length) return false
  const [, ...lines] = html.split('\n')
  return lines.every((line, index) => continuesParagraph(index === lines.length - 1 ? `${line}x` : line))
}

/**
 * True if a paragraph that begins with this inline HTML would be a block of raw HTML. `isAlone` says that the HTML has
 * its line to itself.
 */
export function opensHtmlBlock(html: string, isAlone: boolean): boolean {
  const text = isAlone ? html : `${html}x`
  const lineEnd = text.indexOf('\n')
  // Only the first line is read, because the beginning of a block of raw HTML is on one line.
  return htmlBlockEnd(lineEnd === -1 ? text : text.slice(0, lineEnd)) !== null
}

/**
 * Inline HTML in the form in which it is written. The parser drops up to three spaces at the start of a line. So three
 * more spaces are put before white space at the start of a line.
 */
export function indentInlineHtml(html: string): string {
  return html.replace(/\n(?=[ \t])/g, '\n   ')
}

/** A comment that is written between two formulas side by side, and not read. */
export const mathSeparator = '<!-- -->'

/** True for a tag that is read as a hardBreak. */
export function isLineBreak(html: string): boolean {
  return lineBreak.test(html)
}

// Reads inline HTML only at the start of a text. Elsewhere the parser would search the whole rest of the text for the
// end of each `<?`, which takes quadratic time.
const htmlTextAtStart: Construct = {
  name: 'htmlTextAtStart',
  tokenize(effects, ok, nok) {
    return this.previous === null ? commonmark.htmlText.tokenize.call(this, effects, ok, nok) : nok
  },
}

// Extensions that leave only the grammar of raw HTML. So the parser passes over everything else in a hostile text.
const onlyHtmlBlocks: Extension = { disable: { null: allConstructsBut('codeIndented', 'htmlFlow') } }
const onlyInlineHtml: Extension = { disable: { null: allConstructsBut() }, text: { 60: htmlTextAtStart } }

function allConstructsBut(...kept: string[]): string[] {
  const names = Object.values(commonmark).map((construct) => construct.name)
  return names.filter((name) => name !== undefined && !kept.includes(name)) as string[]
}

/**
 * The offset in UTF-16 code units where the block of raw HTML at the start of the text ends; null when the text begins
 * otherwise.
 */
function htmlBlockEnd(text: string): number | null {
  if (!/^ {0,3}</.test(text)) return null
  return firstTokenEnd(parse({ extensions: [onlyHtmlBlocks] }).flow(), { text, type: 'htmlFlow' })
}

function inlineHtmlEnd(text: string): number | null {
  return firstTokenEnd(parse({ extensions: [onlyInlineHtml] }).text(), { text, type: 'htmlText' })
}

function firstTokenEnd(tokenizer: Tokenizer, { text, type }: { text: string; type: string }): number | null {
  const [first] = tokenizer.write(preprocess()(text, undefined, true))
  const token = first?.[1]
  return token?.type === type && token.start.offset === 0 ? token.end.offset : null
}

/**
 * True if a line below the first line of a paragraph belongs to the paragraph; the paragraph begins the document. A
 * line that begins with white space counts as indented by four columns or more. A line that could be the delimiter row
 * of a table never belongs to the paragraph. The time is linear in the line.
 */
export function continuesParagraph(line: string): boolean {
  if (/^[ \t]/.test(line)) return /[^ \t]/.test(line)
  return line !== '' && !isDelimiterRow(line) && !beginnings.some((beginning) => beginning.test(line))
}

function isDelimiterRow(line: string): boolean {
  return /^[|:\- \t]+$/.test(line) && line.includes('-')
}
