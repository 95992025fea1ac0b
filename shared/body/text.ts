import type { BodyNode, DocNode } from './document.ts'
import { isTextblock } from './nodes.ts'

type TextWriter = (node: BodyNode) => string

/**
 * The plain text of a node or document: blank lines between blocks, line ends between items and rows, tabs between
 * cells. Raw HTML loses its tags.
 */
export function plainText(node: BodyNode | DocNode): string {
  const write = writers[node.type]
  if (write !== undefined) return write(node)
  return isTextblock(node.type) ? inlineText(node) : joined(node, '\n\n')
}

/** The text of raw HTML without tags, comments, scripts and style sheets. Character references stay as they are. */
export function htmlText(html: string): string {
  return html
    .replace(/<!--[\s\S]*?(-->|$)|<(script|style)\b[\s\S]*?(<\/\2\s*>|$)/gi, '')
    .replace(/<\/?[a-z!?][^>]*(>|$)/gi, '')
    .trim()
}

const attribute =
  (name: string): TextWriter =>
  (node) =>
    String(node.attrs?.[name] ?? '')
const lines: TextWriter = (node) => joined(node, '\n')

const writers: { [type: string]: TextWriter } = {
  text: (node) => node.text ?? '',
  hardBreak: () => '\n',
  inlineImage: attribute('alt'),
  inlineMath: attribute('latex'),
  footnoteReference: (node) => `[${node.attrs?.label}]`,
  htmlInline: (node) => htmlText(String(node.attrs?.html ?? '')),
  mention: (node) => `@${node.attrs?.label ?? node.attrs?.id}`,
  image: attribute('alt'),
  blockMath: attribute('latex'),
  frontmatter: () => '',
  htmlBlock: (node) => htmlText(String(node.attrs?.html ?? '')),
  bulletList: lines,
  orderedList: lines,
  taskList: lines,
  listItem: lines,
  taskItem: lines,
  details: lines,
  table: lines,
  tableRow: (node) => (node.content ?? []).map((cell) => cellText(cell)).join('\t'),
}

function inlineText(node: BodyNode): string {
  return (node.content ?? []).map(plainText).join('')
}

function joined(node: BodyNode | DocNode, separator: string): string {
  const parts = (node.content ?? []).map(plainText)
  return parts.filter((part) => part !== '').join(separator)
}

// A cell is one field of one line, so tabs and line ends become spaces.
function cellText(cell: BodyNode): string {
  return joined(cell, ' ').replace(/[\t\n\r]+/g, ' ')
}
