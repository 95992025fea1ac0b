import { isAllowedHref, isAllowedSrc } from './addresses.ts'
import type { BodyNode, DocNode, Mark } from './document.ts'
import { nestMarks } from './mark-runs.ts'
import { isTextblock } from './nodes.ts'
import { isSafeColor, linkRel, sanitizeHtml } from './sanitize.ts'

type Renderer = (node: BodyNode) => string
type MarkRenderer = (content: string, mark: Mark) => string
type Attributes = { [name: string]: string | number | boolean | null | undefined }

/**
 * A document as HTML: only the tags of the tables below, every text escaped, `data-block-id` on each block, links with
 * `rel="noopener noreferrer nofollow"` and an allowed scheme; raw HTML sanitised (decisions 2.5). Safe to put into a
 * page as it is.
 */
export function renderHtml(document: DocNode): string {
  return document.content.map(renderNode).join('\n')
}

function renderNode(node: BodyNode): string {
  return (nodeRenderers[node.type] as Renderer)(node)
}

const nodeRenderers: { [type: string]: Renderer } = {
  paragraph: (node) => block('p', node, { style: alignment(node) }),
  heading: (node) => block(`h${Number(node.attrs?.level ?? 1)}`, node, { style: alignment(node) }),
  blockquote: (node) => block('blockquote', node),
  bulletList: (node) => block('ul', node),
  orderedList: (node) => block('ol', node, { start: number(node, 'start') }),
  listItem: (node) => block('li', node),
  taskList: (node) => block('ul', node, { 'data-type': 'taskList' }),
  taskItem: (node) => {
    const isChecked = node.attrs?.checked === true
    const box = `<input${attributes({ type: 'checkbox', disabled: true, checked: isChecked })}>`
    return element(
      'li',
      { ...identity(node), 'data-type': 'taskItem', 'data-checked': String(isChecked) },
      box + inside(node),
    )
  },
  codeBlock: (node) => {
    const language = string(node, 'language')?.split(/\s/)[0]
    return element('pre', identity(node), element('code', { class: language && `language-${language}` }, inside(node)))
  },
  horizontalRule: (node) => `<hr${attributes(identity(node))}>`,
  image: (node) => picture(node, identity(node)),
  callout: (node) => block('div', node, { 'data-callout': string(node, 'kind') ?? 'note' }),
  details: (node) => block('details', node, { open: node.attrs?.open === true }),
  detailsSummary: (node) => block('summary', node),
  detailsContent: (node) => block('div', node, { 'data-type': 'detailsContent' }),
  blockMath: (node) =>
    element('div', { ...identity(node), 'data-math': 'block' }, escapeHtml(string(node, 'latex') ?? '')),
  footnoteDefinition: (node) => block('div', node, { 'data-footnote': string(node, 'label') }),
  frontmatter: (node) =>
    element(
      'pre',
      { ...identity(node), 'data-type': 'frontmatter', hidden: true },
      escapeHtml(string(node, 'yaml') ?? ''),
    ),
  htmlBlock: (node) =>
    element('div', { ...identity(node), 'data-type': 'html' }, sanitizeHtml(string(node, 'html') ?? '')),
  table: (node) => element('table', identity(node), element('tbody', {}, inside(node))),
  tableRow: (node) => block('tr', node),
  tableCell: (node) => block('td', node, { colspan: number(node, 'colspan'), rowspan: number(node, 'rowspan') }),
  tableHeader: (node) => block('th', node, { colspan: number(node, 'colspan'), rowspan: number(node, 'rowspan') }),
  text: (node) => escapeHtml(node.text ?? ''),
  hardBreak: () => '<br>',
  inlineImage: (node) => picture(node, {}),
  inlineMath: (node) => element('code', { 'data-math': 'inline' }, escapeHtml(string(node, 'latex') ?? '')),
  footnoteReference: (node) => {
    const label = string(node, 'label') ?? ''
    return element('sup', { 'data-footnote-reference': label }, escapeHtml(`[${label}]`))
  },
  // Raw tags open and close in different nodes, so they are sanitised with the whole textblock; see `inside`.
  htmlInline: (node) => string(node, 'html') ?? '',
  mention: (node) => {
    const id = string(node, 'id') ?? ''
    return element('span', { 'data-mention': id }, escapeHtml(`@${string(node, 'label') ?? id}`))
  },
}

// In the order in which they stand where they span the same text, outermost first: one link is one element.
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

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] as string)
}

const entities: { [character: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function block(tag: string, node: BodyNode, more: Attributes = {}): string {
  return element(tag, { ...identity(node), ...more }, inside(node))
}

function inside(node: BodyNode): string {
  const content = node.content ?? []
  if (!isTextblock(node.type)) return content.map(renderNode).join('')
  const html = renderInline(content)
  return content.some((child) => child.type === 'htmlInline') ? sanitizeHtml(html) : html
}

function renderInline(content: BodyNode[]): string {
  if (!content.some((child) => child.marks)) return content.map(renderNode).join('')
  const leaves = content.map((child) => ({ node: renderNode(child), marks: outermostFirst(child.marks) }))
  const wrap = (children: string[], mark: Mark) => [(markRenderers[mark.type] as MarkRenderer)(children.join(''), mark)]
  return nestMarks(leaves, wrap).join('')
}

function outermostFirst(marks: readonly Mark[] = []): readonly Mark[] {
  if (marks.length < 2) return marks
  return marks.toSorted((a, b) => markOrder.indexOf(a.type) - markOrder.indexOf(b.type))
}

function picture(node: BodyNode, more: Attributes): string {
  const src = string(node, 'src')
  const shown = src !== null && isAllowedSrc(src) ? src : null
  const size = { width: number(node, 'width'), height: number(node, 'height') }
  return `<img${attributes({ ...more, src: shown, alt: string(node, 'alt') ?? '', title: string(node, 'title'), ...size })}>`
}

function element(tag: string, own: Attributes, content: string): string {
  return `<${tag}${attributes(own)}>${content}</${tag}>`
}

function attributes(own: Attributes): string {
  let html = ''
  for (const [name, value] of Object.entries(own)) {
    if (value === null || value === undefined || value === false || value === '') {
      if (name === 'alt') html += ' alt=""'
    } else html += value === true ? ` ${name}` : ` ${name}="${escapeHtml(String(value))}"`
  }
  return html
}

function identity(node: BodyNode): Attributes {
  return { 'data-block-id': string(node, 'id') }
}

function alignment(node: BodyNode): string | null {
  const align = string(node, 'textAlign')
  return align === null ? null : `text-align:${align}`
}

function color(property: string, mark: Mark): string | null {
  const value = mark.attrs?.color
  return typeof value === 'string' && isSafeColor(value) ? `${property}:${value}` : null
}

function string(node: BodyNode, name: string): string | null {
  const value = node.attrs?.[name]
  return typeof value === 'string' ? value : null
}

function number(node: BodyNode, name: string): number | null {
  const value = node.attrs?.[name]
  return typeof value === 'number' ? value : null
}
