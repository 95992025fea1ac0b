import type { PhrasingContent } from 'mdast'
import type { BlockNode, BodyNode, Mark, Warning, WarningCode } from '../document.ts'
import { type Leaf, nestMarks, sameMark, sameMarks } from '../marks.ts'
import {
  continuesParagraph,
  indentInlineHtml,
  isHtmlInline,
  isLineBreak,
  mathSeparator,
  opensHtmlBlock,
} from './html-syntax.ts'
import { marksAcrossCode, type Neighbour } from './marks-across-code.ts'

/**
 * A map that collects the losses of an export. The key of a loss is its block and its wording, so that the loss is
 * reported once.
 */
export type ExportWarnings = Map<string, Warning>

/** A context that describes the surroundings of an exported node. `blockId` is the block that warnings belong to. */
export type ExportContext = {
  warnings: ExportWarnings
  blockId: string | null
  /** The labels of all footnote definitions of the document, in lower case; null when they are unknown. */
  labels: ReadonlySet<string> | null
  /** True for the last block of its container. At the top level the whole text is the container. */
  isLast: boolean
  inFootnote?: boolean
  /** `task` is the first paragraph of a task, and `callout` that of a callout. */
  place: 'top' | 'first' | 'nested' | 'listHead' | 'task' | 'callout' | 'cell' | 'heading'
}

/** Reports a loss once for each block and wording. */
export function warn(context: ExportContext, code: WarningCode, message: string): void {
  const { warnings, blockId } = context
  const key = `${blockId} ${code} ${message}`
  if (!warnings.has(key)) warnings.set(key, { code, message, block_id: blockId })
}

/** The context for the inside of a node. */
export function inside(context: ExportContext, node: BodyNode, place: ExportContext['place']): ExportContext {
  return { ...context, blockId: (node as BlockNode).attrs?.id ?? context.blockId, place }
}

type LeafContext = { leaves: Leaf<PhrasingContent>[]; siblings: BodyNode[]; index: number; context: ExportContext }
type Wrap = (children: PhrasingContent[], mark: Mark) => PhrasingContent[]

/** The inline content of a block as mdast phrasing nodes, mdast's word for inline nodes. */
export function exportInline(content: BodyNode[] | undefined, context: ExportContext): PhrasingContent[] {
  const leaves: Leaf<PhrasingContent>[] = []
  const siblings = content ?? []
  for (const [index, node] of siblings.entries()) {
    const write = inlineWriters[node.type] ?? dropped
    const written = write(node, { leaves, siblings, index, context })
    if (written !== null) leaves.push({ node: written, marks: expressibleMarks(node, context) })
  }
  return nestMarks(trimBreaks(markCode(leaves), context), (children, mark) =>
    (markWriters[mark.type] as Wrap)(children, mark),
  )
}

const inlineWriters: { [type: string]: (node: BodyNode, place: LeafContext) => PhrasingContent | null } = {
  text: (node, { context }) => {
    const value = node.text ?? ''
    const isCode = node.marks?.some((mark) => mark.type === 'code')
    return isCode ? inlineCode(value, context) : { type: 'text', value }
  },
  hardBreak: (_, place) => (fitsLineBreak(place) ? { type: 'break' } : { type: 'html', value: '<br>' }),
  inlineImage: (node, { context }) => exportImage(node, context),
  inlineMath: (node, place) => inlineMath(node, place),
  footnoteReference: (node, { context }) => footnoteReference(escapedText(node, 'label'), context),
  htmlInline: (node, place) => htmlInline(node, place),
  mention: (node, { context }) => {
    warn(context, 'node_simplified', 'A mention is written as a link.')
    const id = escapedText(node, 'id')
    const label = escapedText(node, 'label') || id
    // A link cannot hold another link, so a mention within a link is written as text.
    if (node.marks?.some((mark) => mark.type === 'link')) return { type: 'text', value: `@${label}` }
    return { type: 'link', url: `#mention=${encodeURIComponent(id)}`, children: [{ type: 'text', value: `@${label}` }] }
  },
}

// Raw tags that stand for a mark. An import reads such a tag as a mark when the text also has the other tag of its
// pair. That tag may belong to a mark that the export writes beside it.
const markTag = /^<\/?(?:u|sub|sup|mark)\b[^>]*>$/i

const dropped = (): null => null

// The order of marks on the same text, outermost first.
const markWriters: { [type: string]: Wrap } = {
  italic: (children) => [{ type: 'emphasis', children }],
  bold: (children) => [{ type: 'strong', children }],
  strike: (children) => [{ type: 'delete', children }],
  underline: tags('u'),
  subscript: tags('sub'),
  superscript: tags('sup'),
  highlight: tags('mark'),
  link: (children, { attrs }) => {
    const [url, title] = [String(attrs?.href), attrs?.title == null ? null : String(attrs.title)]
    const content = isAutolink(children, url, title) ? children : [emptyText, ...children]
    return [{ type: 'link', url, title, children: content } as PhrasingContent]
  },
}
const wrapOrder = Object.keys(markWriters)

/** The mdast image of an image or inlineImage. */
export function exportImage(node: BodyNode, context: ExportContext): PhrasingContent {
  if (node.attrs?.width != null || node.attrs?.height != null) {
    warn(context, 'attrs_dropped', 'The size of an image is left out.')
  }
  const title = node.attrs?.title
  const alt = escapedText(node, 'alt')
  const children = [emptyText, { type: 'text', value: alt }]
  return {
    type: 'image',
    url: escapedText(node, 'src'),
    alt,
    title: title == null ? null : String(title),
    children,
  } as PhrasingContent
}

// Keeps remark from writing an address alone in angle brackets, which it does with a link that holds only a text.
const emptyText: PhrasingContent = { type: 'text', value: '' }

// True for a link that can be written as its address in angle brackets. A bar would separate cells there.
function isAutolink(children: PhrasingContent[], url: string, title: string | null): boolean {
  const [only, ...others] = children
  if (only?.type !== 'text' || others.length > 0 || title !== null || /[\0- <>|\u007f]/.test(url)) return false
  if (only.value === url) return /^[a-z][+\-.a-z]+:/i.test(url)
  return `mailto:${only.value}` === url && /^[\w.!#$%&'*+/=?^`{}~-]+@[a-z\d-]+(?:\.[a-z\d-]+)+$/i.test(only.value)
}

/** The text of a string attribute; an empty text when the attribute is null. */
export function escapedText(node: BodyNode, name: string): string {
  const value = node.attrs?.[name]
  return typeof value === 'string' ? value : ''
}

/** True if Markdown keeps the label of a footnote as it is. */
export function isFootnoteLabel(label: string): boolean {
  return /^[^\s[\]\\^&]{1,200}$/.test(label)
}

function tags(name: string): Wrap {
  return (children) => [{ type: 'html', value: `<${name}>` }, ...children, { type: 'html', value: `</${name}>` }]
}

function expressibleMarks(node: BodyNode, context: ExportContext): Mark[] {
  for (const mark of node.marks ?? []) {
    if (mark.type === 'code' && node.type !== 'text') warn(context, 'marks_dropped', 'Only text can be code.')
    if (mark.type === 'textStyle') warn(context, 'marks_dropped', 'A text colour is left out.')
    if (mark.type === 'highlight' && mark.attrs) warn(context, 'marks_dropped', 'A highlight colour is left out.')
    if (mark.attrs?.target !== undefined || mark.attrs?.rel !== undefined) {
      warn(context, 'attrs_dropped', 'The target and rel of a link are left out.')
    }
  }
  return writtenMarks(node)
}

// The marks that Markdown can express, in the order of `markWriters`.
function writtenMarks(node: BodyNode): Mark[] {
  return inWrapOrder((node.marks ?? []).filter(({ type }) => Object.hasOwn(markWriters, type)).map(writtenMark))
}

function inWrapOrder(marks: readonly Mark[]): Mark[] {
  return marks.toSorted((a, b) => wrapOrder.indexOf(a.type) - wrapOrder.indexOf(b.type))
}

function writtenMark(mark: Mark): Mark {
  if (mark.type !== 'link') return { type: mark.type }
  return { type: 'link', attrs: { href: mark.attrs?.href ?? '', title: mark.attrs?.title || null } }
}

// Gives inline code the marks that Markdown writes around the code, such as bold between two bold texts. A body does
// not keep these marks on the code.
function markCode(leaves: Leaf<PhrasingContent>[]): Leaf<PhrasingContent>[] {
  const result = [...leaves]
  for (let from = 0; from < leaves.length; from += 1) {
    let end = from
    while (leaves[end]?.node.type === 'inlineCode') end += 1
    if (end === from) continue
    const marks = marksAcrossCode(neighbour(leaves[from - 1]), neighbour(leaves[end]))
    for (let at = from; at < end; at += 1) {
      const leaf = leaves[at] as Leaf<PhrasingContent>
      result[at] = { node: leaf.node, marks: inWrapOrder([...leaf.marks, ...marks]) }
    }
    from = end
  }
  return result
}

function neighbour(leaf: Leaf<PhrasingContent> | undefined): Neighbour | undefined {
  return leaf && { marks: leaf.marks, text: leaf.node.type === 'text' ? leaf.node.value : null }
}

// Emphasis cannot begin or end with a break. So a break at the edge of marked text loses the marks.
function trimBreaks(leaves: Leaf<PhrasingContent>[], context: ExportContext): Leaf<PhrasingContent>[] {
  const before = heldMarks(leaves)
  const after = heldMarks([...leaves].reverse()).reverse()
  return leaves.map((leaf, index) => {
    if (leaf.node.type !== 'break' && !(leaf.node.type === 'html' && isLineBreak(leaf.node.value))) return leaf
    const kept = leaf.marks.filter((mark) => includes(before[index], mark) && includes(after[index], mark))
    if (kept.length < leaf.marks.length) warn(context, 'marks_dropped', 'The marks of a break at an edge are left out.')
    return { node: leaf.node, marks: kept }
  })
}

// Returns for each leaf the marks that are open before the leaf. A break or a tag opens no mark: it only continues
// marks of the leaf before it.
function heldMarks(leaves: Leaf<PhrasingContent>[]): (readonly Mark[])[] {
  let held: readonly Mark[] = []
  return leaves.map(({ node, marks }) => {
    const before = held
    const isEdge = node.type === 'break' || node.type === 'html'
    held = isEdge ? marks.filter((mark) => includes(before, mark)) : marks
    return before
  })
}

function includes(marks: readonly Mark[] | undefined, mark: Mark): boolean {
  return marks?.some((other) => sameMark(other, mark)) ?? false
}

function fitsLineBreak({ leaves, siblings, index, context }: LeafContext): boolean {
  const next = siblings[index + 1]
  if (context.place === 'heading' || context.place === 'cell' || next === undefined || leaves.length === 0) return false
  const last = leaves.at(-1)?.node
  if (last?.type === 'break' || last?.type === 'html') return false
  // White space beside a line end would have to be written as a character reference, so the break is written as `<br>`.
  if ((last?.type === 'text' && /\s$/.test(last.value)) || /^\s/.test(next.text ?? '')) return false
  return next.type !== 'hardBreak' && next.type !== 'htmlInline'
}

function htmlInline(node: BodyNode, { leaves, siblings, index, context }: LeafContext): PhrasingContent {
  const html = escapedText(node, 'html')
  const isCell = context.place === 'cell'
  const isLine = isCell || context.place === 'heading'
  const fitsLine = !(isLine && html.includes('\n'))
  const isBlock = leaves.length === 0 && startsBlock(html, siblings, context)
  const fits = !html.includes('\r') && fitsLine && !(isCell && html.includes('\\|'))
  if (!isBlock && fits && isHtmlInline(html)) {
    if (html === mathSeparator && isMath(siblings[index - 1]) && isMath(siblings[index + 1]))
      warn(context, 'node_simplified', 'A comment that also separates math is left out.')
    if (markTag.test(html))
      warn(context, 'node_simplified', 'A raw tag that also stands for a mark may come back as one.')
    return { type: 'html', value: isCell ? escapeBars(html) : indentInlineHtml(html) }
  }
  warn(context, 'node_simplified', 'Inline HTML that Markdown would not read back is written as text.')
  return { type: 'text', value: html }
}

// True for a tag that the parser would read as the beginning of a block. Only at the start of a line it can be one, not
// behind the sign of a mark, a heading or a task, nor in a cell.
function startsBlock(html: string, [first, second, ...others]: BodyNode[], { place }: ExportContext): boolean {
  if (first?.marks?.some((mark) => Object.hasOwn(markWriters, mark.type))) return false
  if (place === 'cell' || place === 'task') return false
  if (place === 'heading' && ![second, ...others].some((node) => node?.text?.includes('\n'))) return false
  if (place === 'callout') return !continuesParagraph(html)
  return opensHtmlBlock(html, !/^[^\n]*[^\s]/.test(second?.text ?? (second ? 'x' : '')))
}

function isMath(node: BodyNode | undefined): boolean {
  return node?.type === 'inlineMath'
}

function inlineCode(value: string, context: ExportContext): PhrasingContent {
  if (/[\r\n]/.test(value)) warn(context, 'node_simplified', 'Line ends within inline code become spaces.')
  if (context.place !== 'cell' || !value.includes('\\|')) return { type: 'inlineCode', value: oneLine(value) }
  warn(context, 'marks_dropped', 'Code with a backslash before a bar cannot stand in a table.')
  return { type: 'text', value }
}

function inlineMath(node: BodyNode, { leaves, context }: LeafContext): PhrasingContent | null {
  const latex = escapedText(node, 'latex')
  if (/[\r\n]/.test(latex)) warn(context, 'node_simplified', 'Line ends within inline math become spaces.')
  const value = oneLine(latex)
  const before = leaves.at(-1)
  if (/^$|^\s|\s$/.test(value) || (context.place === 'cell' && value.includes('\\|'))) {
    warn(context, 'node_simplified', 'Inline math that Markdown cannot hold here is written as text.')
    return latex === '' ? null : { type: 'text', value: latex }
  }
  // The closing dollars of one math and the opening dollars of the next would be read as one sign.
  const marks = writtenMarks(node)
  if (before?.node.type === 'inlineMath' && sameMarks(before.marks as Mark[], marks)) {
    leaves.push({ node: { type: 'html', value: mathSeparator }, marks })
  }
  return { type: 'inlineMath', value: context.place === 'cell' ? escapeBars(value) : value } as PhrasingContent
}

function oneLine(value: string): string {
  return value.replace(/\r?\n|\r/g, ' ')
}

// A bar separates cells wherever it is, unless it is escaped. A backslash before a bar cannot be escaped.
function escapeBars(value: string): string {
  return value.replaceAll('|', '\\|')
}

function footnoteReference(label: string, context: ExportContext): PhrasingContent {
  if (!isFootnoteLabel(label) || context.labels?.has(label.toLowerCase()) === false) {
    warn(context, 'node_simplified', 'A reference to a footnote that is not in the document is written as text.')
    return { type: 'text', value: `[^${label}]` }
  }
  return { type: 'footnoteReference', identifier: label.toLowerCase(), label }
}
