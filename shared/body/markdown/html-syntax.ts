import type { Html, RootContent } from 'mdast'
import { parseTree } from './processor.ts'

const simpleTag = /^<(?:[a-z][a-z0-9-]*(?:[ \t]+[a-z_:][\w.:-]*(?:="[^"\n]*")?)*[ \t]*\/?|\/[a-z][a-z0-9-]*)>$/i
const lineBreak = /^<br\s*\/?>$/i

/**
 * True if Markdown reads the text, standing alone between other blocks, as one block of raw HTML. HTML that is not
 * closed takes all that follows in its container with it, so it only stands last.
 */
export function isHtmlBlock(html: string, isLast: boolean): boolean {
  const [block, ...after] = parseTree(isLast ? html : `${html}\n\nx`).children
  const isWhole = isLast ? after.length === 0 : after.length === 1 && after[0]?.type === 'paragraph'
  const isSame = block?.type === 'html' && block.value.replace(/\n+$/, '') === html
  return isSame && isWhole && !lineBreak.test(html) && !html.includes('\r')
}

/** True if Markdown reads the text, standing amid other text, as one piece of inline HTML. */
export function isHtmlInline(html: string): boolean {
  if (simpleTag.test(html)) return true
  const [block, ...rest] = parseTree(`x${indentInlineHtml(html)}x`).children
  if (block?.type !== 'paragraph' || rest.length > 0) return false
  const [before, inline, after] = block.children
  return block.children.length === 3 && before?.type === 'text' && isHtml(inline, html) && after?.type === 'text'
}

/** True if a paragraph that begins with this inline HTML, alone on its line or not, would be a block of raw HTML. */
export function opensHtmlBlock(html: string, isAlone: boolean): boolean {
  return parseTree(isAlone ? html : `${html}x`).children[0]?.type === 'html'
}

/** Inline HTML as it has to be written: up to three spaces at the start of a line are no part of what is read back. */
export function indentInlineHtml(html: string): string {
  return html.replace(/\n(?=[ \t])/g, '\n   ')
}

/** True for the tags that are read as a hardBreak. */
export function isLineBreak(html: string): boolean {
  return lineBreak.test(html)
}

function isHtml(node: RootContent | undefined, html: string): node is Html {
  return node?.type === 'html' && node.value === html
}
