import type { BlockContent, Paragraph, PhrasingContent, RootContent } from 'mdast'
import type { BodyNode } from '../document.ts'
import {
  type ExportContext,
  escapedText,
  exportImage,
  exportInline,
  inside,
  isFootnoteLabel,
  warn,
} from './export-inline.ts'
import { exportTable } from './export-table.ts'
import { isHtmlBlock, isHtmlInline } from './html-syntax.ts'

type BlockWriter = (node: BodyNode, context: ExportContext) => RootContent[]

/**
 * The mdast nodes (nodes of remark's syntax tree) of one block. Most blocks become one node, `details` become several,
 * and a block that Markdown cannot show becomes none.
 */
export function exportBlock(node: BodyNode, context: ExportContext): RootContent[] {
  const own = inside(context, node, context.place)
  return (blockWriters[node.type] as BlockWriter)(node, own)
}

/**
 * The mdast nodes of the blocks inside a container. A single empty paragraph means an empty container. `closes` is true
 * if the end of the container also ends raw HTML that the last block leaves open.
 */
function exportFlow(content: BodyNode[] | undefined, context: ExportContext, closes = true): BlockContent[] {
  const blocks = content ?? []
  if (blocks.length === 1 && isEmptyParagraph(blocks[0])) return []
  return exportAll(blocks, context, closes)
}

function exportAll(blocks: BodyNode[], context: ExportContext, closes = true): BlockContent[] {
  const last = closes ? blocks.length - 1 : -1
  return blocks.flatMap((block, index) =>
    exportBlock(block, { ...context, place: 'nested', isLast: index === last }),
  ) as BlockContent[]
}

/** True for a paragraph without content. */
function isEmptyParagraph(node: BodyNode | undefined): boolean {
  return node?.type === 'paragraph' && node.content === undefined
}

const blockWriters: { [type: string]: BlockWriter } = {
  paragraph: exportParagraph,
  heading: (node, context) => {
    warnAlignment(node, context)
    const children = exportInline(node.content, { ...context, place: 'heading' })
    return [{ type: 'heading', depth: Number(node.attrs?.level ?? 1) as 1, children }]
  },
  blockquote: (node, context) => [{ type: 'blockquote', children: exportFlow(node.content, context) }],
  callout: exportCallout,
  bulletList: exportList,
  orderedList: exportList,
  taskList: exportList,
  codeBlock: exportCode,
  horizontalRule: () => [{ type: 'thematicBreak' }],
  image: (node, context) => [{ type: 'paragraph', children: [exportImage(node, context)] }],
  details: exportDetails,
  blockMath: (node, context) => {
    const latex = escapedText(node, 'latex')
    if (latex.includes('\r')) warn(context, 'node_simplified', 'Carriage returns become line feeds.')
    return [{ type: 'math', value: latex } as RootContent]
  },
  footnoteDefinition: exportFootnote,
  frontmatter: exportFrontmatter,
  htmlBlock: exportHtml,
  table: exportTable,
}

function exportParagraph(node: BodyNode, context: ExportContext): RootContent[] {
  warnAlignment(node, context)
  if (node.content === undefined) {
    warn(context, 'block_dropped', 'An empty paragraph is left out.')
    return []
  }
  const [only] = node.content
  const isHead = context.place === 'listHead' || context.place === 'task'
  if (!isHead && node.content.length === 1 && only?.type === 'inlineImage' && !only.marks) {
    warn(context, 'node_simplified', 'A paragraph of one image alone is read back as an image block.')
  }
  return [{ type: 'paragraph', children: exportInline(node.content, context) }]
}

function exportCallout(node: BodyNode, context: ExportContext): RootContent[] {
  const marker = `[!${String(node.attrs?.kind ?? 'note').toUpperCase()}]`
  const [first, ...rest] = node.content ?? []
  if (first?.type !== 'paragraph' || first.content === undefined) {
    const head: BlockContent = { type: 'paragraph', children: [{ type: 'html', value: marker }] }
    return [{ type: 'blockquote', children: [head, ...exportFlow(node.content, context)] }]
  }
  const within = inside(context, first, 'callout')
  warnAlignment(first, within)
  const lead: PhrasingContent = { type: 'html', value: `${marker}\n` }
  const head: BlockContent = { type: 'paragraph', children: [lead, ...exportInline(first.content, within)] }
  return [{ type: 'blockquote', children: [head, ...exportAll(rest, context)] }]
}

function exportList(node: BodyNode, context: ExportContext): RootContent[] {
  const items = (node.content ?? []).map((item) => exportItem(item, context))
  const spread = items.some((item) => item.spread)
  const start = Number(node.attrs?.start ?? 1)
  const fits = start + items.length <= 999_999_999
  if (!fits) warn(context, 'attrs_dropped', 'The start of a list is over what Markdown can number.')
  return [{ type: 'list', ordered: node.type === 'orderedList', start: fits ? start : 1, spread, children: items }]
}

function exportItem(item: BodyNode, context: ExportContext) {
  const own = inside(context, item, 'nested')
  const [head, ...rest] = item.content ?? []
  const isTask = item.type === 'taskItem'
  const checked = isTask ? item.attrs?.checked === true : null
  const after = exportAll(rest, own)
  const children = [...exportItemHead(head, { after: after[0], checked, context: own }), ...after]
  const [first, second, ...others] = children
  const isTight =
    others.length === 0 &&
    (second === undefined || (first?.type === 'paragraph' && second.type === 'list' && !isBreak(first)))
  const hasHead = head?.content !== undefined
  return { type: 'listItem' as const, spread: !isTight, checked: hasHead ? checked : null, children }
}

// A break alone is written as a tag, which would be a block of raw HTML up to the next blank line.
function isBreak({ children: [only, ...others] }: Paragraph): boolean {
  return only?.type === 'html' && others.length === 0
}

type ItemHead = { after: BlockContent | undefined; checked: boolean | null; context: ExportContext }

// In a body each item begins with a paragraph; in Markdown an item may begin with any block. So an empty paragraph
// before another block needs no Markdown.
function exportItemHead(head: BodyNode | undefined, { after, checked, context }: ItemHead): BlockContent[] {
  if (head?.content !== undefined)
    return exportBlock(head, { ...context, place: checked === null ? 'listHead' : 'task' }) as BlockContent[]
  if (head !== undefined) warnAlignment(head, inside(context, head, 'nested'))
  if (checked !== null) {
    return [{ type: 'paragraph', children: [{ type: 'html', value: checked ? '[x]' : '[ ]' }] }]
  }
  if (after?.type === 'paragraph') warn(context, 'block_dropped', 'An empty paragraph is left out.')
  return []
}

function exportCode(node: BodyNode, context: ExportContext): RootContent[] {
  const value = (node.content ?? []).map((child) => child.text ?? '').join('')
  if (value.includes('\r')) warn(context, 'node_simplified', 'Carriage returns become line feeds.')
  const language = escapedText(node, 'language')
  // A body keeps the info string as one attribute; mdast keeps its first word and the rest as two fields.
  const [, lang, meta] = /^([^\s]+) (\S(?:.*\S)?)$/s.exec(language) ?? [null, language, null]
  return [{ type: 'code', lang: lang || null, meta: meta ?? null, value }]
}

function exportFootnote(node: BodyNode, context: ExportContext): RootContent[] {
  const label = escapedText(node, 'label')
  const children = exportFlow(node.content, { ...context, inFootnote: true })
  if (isFootnoteLabel(label) && !context.inFootnote) {
    return [{ type: 'footnoteDefinition', identifier: label.toLowerCase(), label, children }]
  }
  warn(
    context,
    'node_simplified',
    'A footnote within another, or with a label that Markdown cannot hold, is written as a quote.',
  )
  return [{ type: 'blockquote', children }]
}

function exportFrontmatter(node: BodyNode, context: ExportContext): RootContent[] {
  const value = escapedText(node, 'yaml').replace(/\r\n?/g, '\n')
  if (escapedText(node, 'yaml').includes('\r')) warn(context, 'node_simplified', 'Carriage returns become line feeds.')
  if (context.place === 'first' && !/^---[ \t]*$/m.test(value)) return [{ type: 'yaml', value }]
  warn(context, 'node_simplified', 'Frontmatter that Markdown would not read back is written as code.')
  return [{ type: 'code', lang: 'yaml', value }]
}

function exportHtml(node: BodyNode, context: ExportContext): RootContent[] {
  const value = escapedText(node, 'html')
  const isAnchor = context.place !== 'nested' && /^<!--\s*block=/.test(value)
  if (!isAnchor && isHtmlBlock(value, context.isLast)) return [{ type: 'html', value }]
  warn(context, 'node_simplified', 'Raw HTML that Markdown would not read back as it is is written as code.')
  return [{ type: 'code', lang: 'html', value }]
}

function warnAlignment(node: BodyNode, context: ExportContext): void {
  if (node.attrs?.textAlign !== undefined) warn(context, 'attrs_dropped', 'The alignment of a text is left out.')
}

/**
 * Writes details as HTML around Markdown: `<details>` with a `<summary>`, the content, `</details>`. A summary of texts
 * and raw tags stands inside its tag, because HTML can express both exactly. Any other summary is a paragraph between
 * the two tags.
 */
function exportDetails(node: BodyNode, context: ExportContext): RootContent[] {
  const open = node.attrs?.open === true ? '<details open>' : '<details>'
  const [summary, content] = node.content ?? []
  // The closing tag follows the last block inside. So this block is not written as the last block of a text, which may
  // leave HTML open.
  const flow = exportFlow(content?.content, content ? inside(context, content, 'nested') : context, false)
  const html = (value: string): RootContent => ({ type: 'html', value })
  const plain = plainSummary(summary)
  if (plain !== null) return [html(`${open}\n<summary>${plain}</summary>`), ...flow, html('</details>')]
  const children = exportInline(summary?.content, summary ? inside(context, summary, 'nested') : context)
  const lines: RootContent[] = [{ type: 'paragraph', children }]
  return [html(`${open}\n<summary>`), ...lines, html('</summary>'), ...flow, html('</details>')]
}

function plainSummary(summary: BodyNode | undefined): string | null {
  let html = ''
  for (const child of summary?.content ?? []) {
    if (child.marks !== undefined) return null
    if (child.type === 'text') html += escapeText(child.text ?? '')
    else if (child.type === 'hardBreak') html += '<br>'
    else if (child.type === 'htmlInline' && isPlainTag(String(child.attrs?.html))) html += child.attrs?.html
    else return null
  }
  const coded = (space: string) => `&#x${space.charCodeAt(0).toString(16).toUpperCase()};`
  return html.replace(/^\s|\s$/g, coded)
}

function isPlainTag(html: string): boolean {
  return /^<[^<>\n]*>$/.test(html) && !/^<\/?(summary|br|u|sub|sup|mark)\b/i.test(html) && isHtmlInline(html)
}

// Line ends are written as character references, because line ends and the white space beside them would not be read
// back as they are.
function escapeText(text: string): string {
  const entities: { [character: string]: string } = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '\n': '&#xA;',
    '\r': '&#xD;',
  }
  return text.replace(/[&<>\n\r]/g, (character) => entities[character] as string)
}
