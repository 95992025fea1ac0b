import type { List, ListItem, Paragraph, RootContent, Table, TableRow } from 'mdast'
import { maximumNodes } from '../body-limits.ts'
import type { BodyNode } from '../document.ts'
import { isLineBreak } from './html-syntax.ts'
import { deeper, type ImportContext, refuseText, warnAt } from './import-context.ts'
import { detailsEnds, readDetails } from './import-details.ts'
import { importInline } from './import-inline.ts'

type BlockReader = (node: never, context: ImportContext) => BodyNode[]
type Of<T extends RootContent['type']> = Extract<RootContent, { type: T }>

/**
 * A result of reading one or more sibling flow nodes: their blocks, and the first and the last of the nodes. A flow
 * node is mdast's word for a node that is a block.
 */
export type Reading = { blocks: BodyNode[]; node: RootContent; last: RootContent }

/**
 * Reads sibling flow nodes. The result has one reading for each node; all nodes of one `details`, from the opening tag
 * to the closing tag, share one reading. A node without a block, such as a definition, makes an empty reading.
 */
export function readFlow(nodes: RootContent[], context: ImportContext): Reading[] {
  const readings: Reading[] = []
  const ends = detailsEnds(nodes)
  for (let index = 0; index < nodes.length; index++) {
    const node = nodes[index] as RootContent
    const details = readDetails(nodes, index, { ends, context, importFlow })
    if (details !== null) index = details.end
    const blocks = details === null ? importBlock(node, context) : [details.node]
    readings.push({ blocks, node, last: nodes[index] as RootContent })
  }
  return readings
}

/** Reads the blocks inside a container. An empty container holds an empty paragraph. */
function importFlow(nodes: RootContent[], context: ImportContext): BodyNode[] {
  const blocks = readFlow(nodes, deeper(context)).flatMap((reading) => reading.blocks)
  return blocks.length > 0 ? blocks : [{ type: 'paragraph' }]
}

function importBlock(node: RootContent, context: ImportContext): BodyNode[] {
  const read = blockReaders[node.type] as BlockReader | undefined
  return read?.(node as never, context) ?? []
}

const blockReaders: { [T in RootContent['type']]?: (node: Of<T>, context: ImportContext) => BodyNode[] } = {
  paragraph: (node, context) => [importParagraph(node, context)],
  heading: (node, context) => [
    { type: 'heading', attrs: { level: node.depth }, content: importInline(node.children, context) },
  ],
  thematicBreak: () => [{ type: 'horizontalRule' }],
  blockquote: (node, context) => [importCallout(node, context) ?? quote(node, context)],
  list: importList,
  code: (node, context) => {
    const language = [node.lang, node.meta].filter((part) => part).join(' ')
    const text = verbatim(node.value, context)
    const content: BodyNode[] = text === '' ? [] : [{ type: 'text', text }]
    return [{ type: 'codeBlock', attrs: { language: language || null }, content }]
  },
  html: (node, context) => importHtml(node, context),
  footnoteDefinition: (node, context) => [
    {
      type: 'footnoteDefinition',
      attrs: { label: node.label ?? node.identifier },
      content: importFlow(node.children, { ...context, footnotes: context.footnotes + 1 }),
    },
  ],
  table: (node, context) => [importTable(node, context)],
  yaml: (node) => [{ type: 'frontmatter', attrs: { yaml: node.value } }],
  math: (node, context) => {
    const latex = [node.meta, verbatim(node.value, context)].filter((part) => part).join('\n')
    return [{ type: 'blockMath', attrs: { latex } }]
  },
}

// Removes the indentation of footnotes, which the parser leaves on lines without other content.
function verbatim(value: string, { footnotes }: ImportContext): string {
  if (footnotes === 0) return value
  const indentation = new RegExp(`^ {1,${4 * footnotes}}`)
  return value.replace(/^ [ \t]*$/gm, (blank) => blank.replace(indentation, ''))
}

function quote(node: Of<'blockquote'>, context: ImportContext): BodyNode {
  return { type: 'blockquote', content: importFlow(node.children, context) }
}

// A paragraph with an image alone is an image block.
function importParagraph(node: Paragraph, context: ImportContext): BodyNode {
  const content = importInline(node.children, context)
  const [only] = content
  if (content.length === 1 && only?.type === 'inlineImage' && only.marks === undefined) {
    return { type: 'image', attrs: only.attrs ?? {} }
  }
  return { type: 'paragraph', content }
}

function importHtml(node: Of<'html'>, context: ImportContext): BodyNode[] {
  // The export writes a paragraph with one break as a line with `<br>` alone, so such a line is read as that paragraph.
  if (isLineBreak(node.value.trim())) return [{ type: 'paragraph', content: [{ type: 'hardBreak' }] }]
  if (/^\s*<!--\s*block=/.test(node.value)) {
    const message = 'a block anchor only counts alone at the top level; here it is content.'
    warnAt(context, { code: 'misplaced_anchor', message, line: node.position?.start.line })
  }
  // HTML that is never closed includes the line ends before the end of its container, which are removed here.
  return [{ type: 'htmlBlock', attrs: { html: withoutFinalLineFeeds(verbatim(node.value, context)) } }]
}

function withoutFinalLineFeeds(text: string): string {
  let end = text.length
  while (text[end - 1] === '\n') end -= 1
  return text.slice(0, end)
}

// The marker of a callout, such as `> [!NOTE]`, must be unescaped and alone on the first line.
function importCallout(node: Of<'blockquote'>, context: ImportContext): BodyNode | null {
  const [head, ...rest] = node.children
  if (head?.type !== 'paragraph') return null
  const [first, ...after] = head.children
  if (first?.type !== 'text' || sourceAt(first, context) !== '[') return null
  const marker = /^\[!(note|tip|important|warning|caution)\][ \t]*(\n|$)/i.exec(first.value)
  // Spaces behind the marker make its line end a break, which does not belong to the callout.
  const isSpaced = marker?.[2] === '' && after[0]?.type === 'break' && sourceAt(after[0], context) === ' '
  const others = isSpaced ? after.slice(1) : after
  if (marker === null || (marker[2] === '' && others.length > 0 && !isSpaced)) return null
  const value = first.value.slice(marker[0].length)
  const inline = value === '' ? others : [{ ...first, value }, ...others]
  const lead: BodyNode[] = inline.length > 0 ? [{ type: 'paragraph', content: importInline(inline, context) }] : []
  const blocks = [...lead, ...(rest.length > 0 ? importFlow(rest, context) : [])]
  const kind = (marker[1] as string).toLowerCase()
  return { type: 'callout', attrs: { kind }, content: blocks.length > 0 ? blocks : [{ type: 'paragraph' }] }
}

function sourceAt(node: RootContent, context: ImportContext): string | undefined {
  return context.source[node.position?.start.offset ?? 0]
}

// A list of Markdown may mix items with and without a checkbox. Neighbouring items of the same kind become one list.
function importList(node: List, context: ImportContext): BodyNode[] {
  const lists: BodyNode[] = []
  for (const item of node.children) {
    const read = importItem(item, { ordered: node.ordered === true, context })
    const type = read.type === 'taskItem' ? 'taskList' : node.ordered ? 'orderedList' : 'bulletList'
    const last = lists.at(-1)
    if (last?.type === type) last.content?.push(read)
    else lists.push({ type, attrs: node.ordered ? { start: node.start ?? 1 } : {}, content: [read] })
  }
  return lists
}

function importItem(item: ListItem, { ordered, context }: { ordered: boolean; context: ImportContext }): BodyNode {
  const within = deeper(context)
  const [head, ...rest] = item.children
  const bare = ordered ? null : bareCheckbox(head, context)
  const checked = item.checked ?? bare
  const isTask = checked !== null && !ordered
  const lead = leadOf(head, { item, ordered, isBare: bare !== null, within })
  const others = lead === null ? item.children : rest
  const content = readFlow(others, within).flatMap((reading) => reading.blocks)
  const blocks = [lead ?? { type: 'paragraph' }, ...content]
  return isTask ? { type: 'taskItem', attrs: { checked }, content: blocks } : { type: 'listItem', content: blocks }
}

type Lead = { item: ListItem; ordered: boolean; isBare: boolean; within: ImportContext }

// The first paragraph of an item stays a paragraph even if it is an image alone. Numbered items keep a checkbox as
// text.
function leadOf(head: RootContent | undefined, { item, ordered, isBare, within }: Lead): BodyNode | null {
  if (isBare) return { type: 'paragraph' }
  if (head?.type === 'html' && isLineBreak(head.value)) return { type: 'paragraph', content: [{ type: 'hardBreak' }] }
  if (head?.type !== 'paragraph') return null
  if (item.checked == null) return { type: 'paragraph', content: importInline(head.children, within) }
  const start = head.position?.start.offset ?? 0
  if (ordered) {
    // The parser moves the start of a paragraph behind the box if text follows.
    const box = within.source.startsWith('[', start) ? start : start - 4
    const text = within.source.slice(box, box + 4)
    return { type: 'paragraph', content: [{ type: 'text', text }, ...importInline(head.children, within)] }
  }
  // All white space behind the box belongs to the box. White space that is written as a reference is text.
  const [first, ...others] = head.children
  if (first?.type !== 'text') return { type: 'paragraph', content: importInline(head.children, within) }
  const [written] = /^[ \t]*/.exec(within.source.slice(start)) ?? ['']
  const value = first.value.startsWith(written) ? first.value.slice(written.length) : first.value
  return { type: 'paragraph', content: importInline([{ ...first, value }, ...others], within) }
}

// GFM requires a text behind the checkbox. Here an item with only a checkbox is an empty task.
function bareCheckbox(head: RootContent | undefined, context: ImportContext): boolean | null {
  if (head?.type !== 'paragraph' || head.children.length !== 1) return null
  const source = context.source.slice(head.position?.start.offset ?? 0, head.position?.end.offset ?? 0)
  const box = /^\[([ xX])\]$/.exec(source)
  return box === null || head.children[0]?.type !== 'text' ? null : box[1] !== ' '
}

// The number of cells up to the last one with content.
function filled({ children }: TableRow): number {
  return children.findLastIndex((cell) => cell.children.length > 0) + 1
}

function importTable(node: Table, context: ImportContext): BodyNode {
  const width = node.children.reduce(
    (most, row, index) => Math.max(most, index === 0 ? row.children.length : filled(row)),
    0,
  )
  if (width * node.children.length > maximumNodes) {
    throw refuseText(context, `a document holds at most ${maximumNodes} nodes`)
  }
  const within = { ...context, inCell: true }
  const rows = node.children.map((row, index) => ({
    type: 'tableRow',
    content: Array.from({ length: width }, (_, column): BodyNode => {
      const content = importInline(row.children[column]?.children ?? [], within)
      const attrs = { textAlign: node.align?.[column] ?? null }
      return { type: index === 0 ? 'tableHeader' : 'tableCell', content: [{ type: 'paragraph', attrs, content }] }
    }),
  }))
  return { type: 'table', content: rows }
}
