import { isAllowedHref, isAllowedSrc } from './addresses.ts'
import type { BodyNode, DocNode, Mark } from './document.ts'
import {
  type Attributes,
  attributes,
  element,
  escapeHtml,
  numberAttribute as number,
  stringAttribute as string,
} from './html-elements.ts'
import { nestMarks } from './marks.ts'
import { isTextblock } from './nodes.ts'
import { isSafeColor, linkRel, sanitizeHtml, sanitizeWithLeaves } from './sanitize.ts'

/** A function that writes a node as HTML; `writer` writes the content of the node. */
export type NodeRenderer = (node: BodyNode, writer: HtmlWriter) => string

/** A function that writes a mark as HTML around content that is HTML already. */
export type MarkRenderer = (content: string, mark: Mark) => string

/**
 * A form of HTML that differs from the form of the API, such as the form of a page. Each member overrides what the
 * API's form does for the same nodes or marks.
 */
export type HtmlForm = {
  /** Renderers by node type. */
  nodes?: { [type: string]: NodeRenderer }
  /** Renderers by mark type. */
  marks?: { [type: string]: MarkRenderer }
  /** The attributes of every block besides its id. */
  blockAttributes?: (node: BodyNode) => Attributes
}

/**
 * A document as HTML that is safe to put into a page. Only tags of the tables below are written, every text is escaped,
 * each block has `data-block-id`, and raw HTML is sanitised. Links have an allowed scheme and `rel="noopener noreferrer
 * nofollow"`.
 */
export function renderHtml(document: DocNode): string {
  const writer = new HtmlWriter()
  return document.content.map((node) => writer.write(node)).join('\n')
}

/** A writer that turns nodes into HTML, in the form of the API unless another form is given. */
export class HtmlWriter {
  readonly #nodes: { [type: string]: NodeRenderer }
  readonly #marks: { [type: string]: MarkRenderer }
  readonly #blockAttributes: (node: BodyNode) => Attributes

  constructor({ nodes, marks, blockAttributes = () => ({}) }: HtmlForm = {}) {
    this.#nodes = { ...nodeRenderers, ...nodes }
    this.#marks = { ...markRenderers, ...marks }
    this.#blockAttributes = blockAttributes
  }

  /** Writes a node with all its content. */
  write(node: BodyNode): string {
    return (this.#nodes[node.type] as NodeRenderer)(node, this)
  }

  /** Writes a block as one element around its content. */
  block(tag: string, node: BodyNode, more: Attributes = {}): string {
    return element(tag, { ...this.blockAttributes(node), ...more }, this.inside(node))
  }

  /** The attributes that every block has. */
  blockAttributes(node: BodyNode): Attributes {
    return { 'data-block-id': string(node, 'id'), ...this.#blockAttributes(node) }
  }

  /**
   * Writes the content of a node. Raw tags may open and close in different nodes. So a textblock (a block that holds
   * text) with raw tags is sanitised as a whole.
   */
  inside(node: BodyNode): string {
    const content = node.content ?? []
    if (!isTextblock(node.type)) return content.map((child) => this.write(child)).join('')
    if (!content.some(({ type }) => type === 'htmlInline')) return this.#inline(content, (child) => this.write(child))
    return sanitizeWithLeaves((keep) =>
      this.#inline(content, (child) => {
        const html = this.write(child)
        return child.type === 'text' || child.type === 'htmlInline' ? html : keep(html)
      }),
    )
  }

  #inline(content: BodyNode[], write: (node: BodyNode) => string): string {
    if (!content.some((child) => child.marks)) return content.map(write).join('')
    const leaves = content.map((child) => ({ node: write(child), marks: outermostFirst(child.marks) }))
    const wrap = (children: string[], mark: Mark) => [(this.#marks[mark.type] as MarkRenderer)(children.join(''), mark)]
    return nestMarks(leaves, wrap).join('')
  }
}

const nodeRenderers: { [type: string]: NodeRenderer } = {
  paragraph: (node, writer) => writer.block('p', node, { style: alignment(node) }),
  heading: (node, writer) => writer.block(`h${number(node, 'level') ?? 1}`, node, { style: alignment(node) }),
  blockquote: (node, writer) => writer.block('blockquote', node),
  bulletList: (node, writer) => writer.block('ul', node),
  orderedList: (node, writer) => writer.block('ol', node, { start: number(node, 'start') }),
  listItem: (node, writer) => writer.block('li', node),
  taskList: (node, writer) => writer.block('ul', node, { 'data-type': 'taskList' }),
  taskItem: (node, writer) => {
    const isChecked = node.attrs?.checked === true
    const box = `<input${attributes({ type: 'checkbox', disabled: true, checked: isChecked })}>`
    const own = { ...writer.blockAttributes(node), 'data-type': 'taskItem', 'data-checked': String(isChecked) }
    return element('li', own, box + writer.inside(node))
  },
  codeBlock: (node, writer) => {
    const language = codeLanguage(node)
    const code = element('code', { class: language && `language-${language}` }, writer.inside(node))
    return element('pre', writer.blockAttributes(node), code)
  },
  horizontalRule: (node, writer) => `<hr${attributes(writer.blockAttributes(node))}>`,
  image: (node, writer) => picture(node, writer.blockAttributes(node)),
  callout: (node, writer) => writer.block('div', node, { 'data-callout': string(node, 'kind') ?? 'note' }),
  details: (node, writer) => writer.block('details', node, { open: node.attrs?.open === true }),
  detailsSummary: (node, writer) => writer.block('summary', node),
  detailsContent: (node, writer) => writer.block('div', node, { 'data-type': 'detailsContent' }),
  blockMath: (node, writer) => {
    const own = { ...writer.blockAttributes(node), 'data-math': 'block' }
    return element('div', own, escapeHtml(string(node, 'latex') ?? ''))
  },
  footnoteDefinition: (node, writer) => writer.block('div', node, { 'data-footnote': string(node, 'label') }),
  frontmatter: (node, writer) => {
    const own = { ...writer.blockAttributes(node), 'data-type': 'frontmatter', hidden: true }
    return element('pre', own, escapeHtml(string(node, 'yaml') ?? ''))
  },
  htmlBlock: (node, writer) => {
    const own = { ...writer.blockAttributes(node), 'data-type': 'html' }
    return element('div', own, sanitizeHtml(string(node, 'html') ?? ''))
  },
  table: (node, writer) => element('table', writer.blockAttributes(node), element('tbody', {}, writer.inside(node))),
  tableRow: (node, writer) => writer.block('tr', node),
  tableCell: (node, writer) => writer.block('td', node, spans(node)),
  tableHeader: (node, writer) => writer.block('th', node, spans(node)),
  text: (node) => escapeHtml(node.text ?? ''),
  hardBreak: () => '<br>',
  inlineImage: (node) => picture(node, {}),
  inlineMath: (node) => element('code', { 'data-math': 'inline' }, escapeHtml(string(node, 'latex') ?? '')),
  footnoteReference: (node) => {
    const label = string(node, 'label') ?? ''
    return element('sup', { 'data-footnote-reference': label }, escapeHtml(`[${label}]`))
  },
  // The tag is written verbatim; `inside` sanitises the tag together with the textblock around it.
  htmlInline: (node) => string(node, 'html') ?? '',
  mention: (node) => {
    const id = string(node, 'id') ?? ''
    return element('span', { 'data-mention': id }, escapeHtml(`@${string(node, 'label') ?? id}`))
  },
}

// The order in which marks on the same text are nested, outermost first. A link is outermost, so that one link is one
// element.
const markRenderers: { [type: string]: MarkRenderer } = {
  link: (content, { attrs }) => {
    const href = String(attrs?.href ?? '')
    if (!isAllowedHref(href)) return content
    const title = typeof attrs?.title === 'string' ? attrs.title : null
    return element('a', { href, title, target: attrs?.target === '_blank' ? '_blank' : null, rel: linkRel }, content)
  },
  bold: (content) => element('strong', {}, content),
  italic: (content) => element('em', {}, content),
  strike: (content) => element('s', {}, content),
  underline: (content) => element('u', {}, content),
  subscript: (content) => element('sub', {}, content),
  superscript: (content) => element('sup', {}, content),
  highlight: (content, mark) => element('mark', { style: color('background-color', mark) }, content),
  textStyle: (content, mark) => element('span', { style: color('color', mark) }, content),
  code: (content) => element('code', {}, content),
}
const markOrder = Object.keys(markRenderers)

/** The first word of the `language` of a code block; null when the block names no language. */
export function codeLanguage(node: BodyNode): string | null {
  return string(node, 'language')?.split(/\s/)[0] || null
}

/** The CSS that aligns the text of a block; null when the block has no alignment of its own. */
export function alignment(node: BodyNode): string | null {
  const align = string(node, 'textAlign')
  return align === null ? null : `text-align:${align}`
}

/**
 * An image as HTML; `more` are attributes that come before its own. An image whose address is not allowed has no `src`.
 */
export function picture(node: BodyNode, more: Attributes): string {
  const src = string(node, 'src')
  const shown = src !== null && isAllowedSrc(src) ? src : null
  const size = { width: number(node, 'width'), height: number(node, 'height') }
  return `<img${attributes({ ...more, src: shown, alt: string(node, 'alt') ?? '', title: string(node, 'title'), ...size })}>`
}

function outermostFirst(marks: readonly Mark[] = []): readonly Mark[] {
  if (marks.length < 2) return marks
  return marks.toSorted((a, b) => markOrder.indexOf(a.type) - markOrder.indexOf(b.type))
}

function spans(node: BodyNode): Attributes {
  return { colspan: number(node, 'colspan'), rowspan: number(node, 'rowspan') }
}

function color(property: string, mark: Mark): string | null {
  const value = mark.attrs?.color
  return typeof value === 'string' && isSafeColor(value) ? `${property}:${value}` : null
}
