import type { BodyNode, DocNode } from '../../../shared/body/document.ts'
import { codeLanguage, HtmlWriter, type NodeRenderer, picture } from '../../../shared/body/html.ts'
import {
  type Attributes,
  attributes,
  element,
  escapeHtml,
  stringAttribute,
} from '../../../shared/body/html-elements.ts'
import { isTextblock } from '../../../shared/body/nodes.ts'
import { sanitizeHtml } from '../../../shared/body/sanitize.ts'
import { directionOf } from './direction.ts'
import { Footnotes } from './footnotes.ts'
import { PageHeadings } from './headings.ts'
import { highlightCode, languageName } from './highlight.ts'
import { mathMl } from './math.ts'

/**
 * A document as HTML for readers: a table of contents, the body and its footnotes. Unlike the API's HTML, this HTML
 * shows math as MathML and code in colours, and numbers footnotes. Words tell what colour or position alone would tell.
 * The function is pure, its result is safe to put into a page, and its time is linear in the size of the document. Math
 * and colours cost more than other text, so a page has a bounded number of characters of each. Further math and code is
 * shown as the author has written it.
 *
 * Blocks after the first `shown` blocks are in a `<noscript>`, for a page whose script brings them. All `<` of the text
 * are escaped, so no text ends that element.
 */
export function pageHtml(document: DocNode, { shown = Number.POSITIVE_INFINITY }: { shown?: number } = {}): string {
  const headings = new PageHeadings(document)
  const footnotes = new Footnotes(document)
  const writer = new HtmlWriter({
    blockAttributes: (node) => ({ dir: blockDirection(node) }),
    marks: { code: (content) => element('code', { dir: 'ltr' }, content) },
    nodes: {
      ...blockRenderers,
      ...codeRenderers(),
      ...mathRenderers(),
      ...tableRenderers(),
      heading: (node, writer) => headings.write(node, writer),
      footnoteReference: (node) => footnotes.reference(stringAttribute(node, 'label') ?? ''),
      // Nothing is written where a footnote is defined. `footnotes.section` writes all definitions at the end of the
      // page.
      footnoteDefinition: () => '',
    },
  })
  const blocks = document.content.map((node) => writer.write(node))
  const rest = blocks.splice(shown)
  if (rest.length > 0) blocks.push(`<noscript>${rest.join('\n')}</noscript>`)
  const body = blocks.join('\n')
  return `${headings.contents()}\n<div class="prose">\n${body}\n${footnotes.section(writer)}</div>`
}

// The `dir` of a block. A block of text gets `auto`, by which browsers find the direction themselves, if it has
// letters. Without letters it has the direction of the block around it. A block that contains blocks gets the direction
// of its first letter here, because browsers skip inner blocks with a `dir`.
function blockDirection(node: BodyNode): string | null {
  if (node.type === 'codeBlock') return 'ltr'
  if (node.type === 'htmlBlock' || node.content?.some(({ type }) => type === 'htmlInline')) return 'auto'
  if (isTextblock(node.type)) return directionOf(node) === null ? null : 'auto'
  return directed.has(node.type) ? directionOf(node) : null
}

const directed = new Set(
  'blockquote bulletList orderedList taskList callout details table tableCell tableHeader'.split(' '),
)

const callouts: { [kind: string]: string } = {
  note: 'Note',
  tip: 'Tip',
  important: 'Important',
  warning: 'Warning',
  caution: 'Caution',
}

const blockRenderers: { [type: string]: NodeRenderer } = {
  taskItem: (node, writer) => {
    const isChecked = node.attrs?.['checked'] === true
    const box = { type: 'checkbox', disabled: true, checked: isChecked, 'aria-label': isChecked ? 'done' : 'to do' }
    const own = { ...writer.blockAttributes(node), 'data-type': 'taskItem' }
    return element('li', own, `<input${attributes(box)}>${element('div', {}, writer.inside(node))}`)
  },
  callout: (node, writer) => {
    const kind = stringAttribute(node, 'kind') ?? 'note'
    // The word is in a `bdi`, which browsers ignore when they look for the direction of the elements around it.
    const word = `<p class="kind" lang="en"><bdi>${callouts[kind] ?? kind}</bdi></p>`
    return element('div', { ...writer.blockAttributes(node), 'data-callout': kind }, word + writer.inside(node))
  },
  image: (node, writer) => picture(node, { ...writer.blockAttributes(node), ...lazily }),
  inlineImage: (node) => picture(node, lazily),
  // Puts a box around each table of raw HTML by replacing text. This is safe: in sanitised HTML every `<` begins a tag,
  // and each table is closed.
  htmlBlock: (node, writer) => {
    const html = sanitizeHtml(stringAttribute(node, 'html') ?? '')
      .replaceAll(/<pre(?=[ >])/g, '<pre tabindex="0"')
      .replaceAll(/<table(?=[ >])/g, '<div class="scroll" tabindex="0"><table')
      .replaceAll('</table>', '</table></div>')
    return element('div', { ...writer.blockAttributes(node), 'data-type': 'html' }, html)
  },
}

const lazily: Attributes = { loading: 'lazy', decoding: 'async' }

function codeRenderers(): { [type: string]: NodeRenderer } {
  // Code is coloured up to a limit of characters, because the expressions of highlighters backtrack. The worst text of
  // 5,000 characters took 0.1 s, other texts 0.002 s.
  const allowance = new Allowance({ each: 5000, total: 40_000 })
  return {
    codeBlock: (node, writer) => {
      const language = codeLanguage(node)
      const code = (node.content ?? []).map(({ text }) => text ?? '').join('')
      const coloured = language !== null && allowance.admits(code) ? highlightCode(code, language) : null
      const name = language === null ? null : languageName(language)
      const caption = name === null ? '' : `<figcaption><bdi>${escapeHtml(name)}</bdi></figcaption>`
      const label = name === null ? 'Code' : `Code, ${name}`
      const pre = { tabindex: 0, role: 'group', 'aria-label': label }
      const inner = element('code', {}, coloured ?? escapeHtml(code))
      return element('figure', { class: 'code', ...writer.blockAttributes(node) }, caption + element('pre', pre, inner))
    },
  }
}

function mathRenderers(): { [type: string]: NodeRenderer } {
  // MathML is up to a hundred times as long as its source, so a page has at most three megabytes of MathML.
  const allowance = new Allowance({ each: 2000, total: 30_000 })
  const mathOf = (node: BodyNode, display: 'block' | 'inline') => {
    const latex = stringAttribute(node, 'latex') ?? ''
    const math = allowance.admits(latex) ? mathMl(latex, display) : null
    return math ?? element('code', {}, escapeHtml(latex))
  }
  return {
    inlineMath: (node) => element('span', { class: 'math', dir: 'ltr' }, mathOf(node, 'inline')),
    blockMath: (node, writer) => {
      const own = { class: 'math', dir: 'ltr', tabindex: 0, role: 'group', 'aria-label': 'Formula' }
      return element('div', { ...writer.blockAttributes(node), ...own }, mathOf(node, 'block'))
    },
  }
}

function tableRenderers(): { [type: string]: NodeRenderer } {
  let tables = 0
  return {
    table: (node, writer) => {
      tables += 1
      const scroll = {
        class: 'scroll',
        dir: directionOf(node),
        role: 'region',
        tabindex: 0,
        'aria-label': `Table ${tables}`,
      }
      const [first, ...rest] = node.content ?? []
      const hasHead = first !== undefined && rest.length > 0 && isHead(first)
      const head = hasHead ? element('thead', {}, writer.write(first)) : ''
      const rows = (hasHead ? rest : (node.content ?? [])).map((row) => writer.write(row)).join('')
      const table = element('table', writer.blockAttributes(node), head + element('tbody', {}, rows))
      return element('div', scroll, table)
    },
  }
}

// Whether the first row is the head of its table. If a cell spans the next row too, the row is no head, because the
// head would cut the cell off.
function isHead(row: BodyNode): boolean {
  return (row.content ?? []).every(({ type, attrs }) => type === 'tableHeader' && (attrs?.['rowspan'] ?? 1) === 1)
}

/** A limit on the characters of a page that may cost more than plain text, such as math. */
class Allowance {
  readonly #each: number
  #left: number

  /** `each` is the most characters of one text, `total` of all texts of a page. */
  constructor({ each, total }: { each: number; total: number }) {
    this.#each = each
    this.#left = total
  }

  /** Whether a text is within the bounds. If it is, its length is subtracted from the total. */
  admits(text: string): boolean {
    if (text.length > this.#each || text.length > this.#left) return false
    this.#left -= text.length
    return true
  }
}
