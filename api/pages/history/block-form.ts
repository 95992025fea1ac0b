import type { BodyNode } from '../../../shared/body/document.ts'
import { HtmlWriter, type NodeRenderer, picture } from '../../../shared/body/html.ts'
import { attributes, element, escapeHtml, stringAttribute } from '../../../shared/body/html-elements.ts'
import { isTextblock } from '../../../shared/body/nodes.ts'
import { directionOf } from '../share/direction.ts'

/**
 * A writer of the blocks of a difference. It writes the form of the API with what readers need. Headings are
 * paragraphs, because they are no headings of the page around them. What cannot be drawn in part, such as formulas and
 * raw HTML, is shown as its source. `<ins>` and `<del>` stand around what only one side has.
 */
export function differenceWriter(): HtmlWriter {
  return new HtmlWriter({
    blockAttributes: (node) => ({ dir: blockDirection(node), class: changeClass(node) }),
    marks: {
      inserted: (content) => element('ins', {}, content),
      deleted: (content) => element('del', {}, content),
      code: (content) => element('code', { dir: 'ltr' }, content),
    },
    nodes: blockRenderers,
  })
}

/**
 * The block with raw tags as the texts that they are. As a tag, a raw tag could reach over the ends of what was inserted
 * or deleted.
 */
export function withoutRawTags(node: BodyNode): BodyNode {
  if (node.type === 'htmlInline') {
    return { type: 'text', text: stringAttribute(node, 'html') ?? '', marks: [...(node.marks ?? []), { type: 'code' }] }
  }
  return node.content === undefined ? node : { ...node, content: node.content.map(withoutRawTags) }
}

// Lists and tables cannot hold `<ins>` and `<del>` between their items, so a class tells the change of an item.
function changeClass({ attrs }: BodyNode): string | null {
  const change = attrs?.['change']
  return change === 'inserted' || change === 'deleted' ? change : null
}

function blockDirection(node: BodyNode): string | null {
  if (node.type === 'codeBlock') return 'ltr'
  return isTextblock(node.type) ? 'auto' : directionOf(node)
}

const source =
  (name: string): NodeRenderer =>
  (node, writer) => {
    const code = element('code', { dir: 'ltr' }, escapeHtml(stringAttribute(node, name) ?? ''))
    return changed(node, element('pre', writer.blockAttributes(node), code))
  }

const blockRenderers: { [type: string]: NodeRenderer } = {
  heading: (node, writer) => writer.block('p', node, { 'data-level': String(node.attrs?.['level'] ?? 1) }),
  taskItem: (node, writer) => {
    const isChecked = node.attrs?.['checked'] === true
    const box = { type: 'checkbox', disabled: true, checked: isChecked, 'aria-label': isChecked ? 'done' : 'to do' }
    const own = { ...writer.blockAttributes(node), 'data-type': 'taskItem' }
    return element('li', own, `<input${attributes(box)}>${element('div', {}, writer.inside(node))}`)
  },
  details: (node, writer) => writer.block('details', node, { open: true }),
  table: (node, writer) => {
    const region = { class: 'scroll', role: 'region', tabindex: 0, 'aria-label': 'Table' }
    return element(
      'div',
      region,
      element('table', writer.blockAttributes(node), element('tbody', {}, writer.inside(node))),
    )
  },
  footnoteDefinition: (node, writer) => {
    const label = element('p', {}, `[${escapeHtml(stringAttribute(node, 'label') ?? '')}]`)
    return element('div', writer.blockAttributes(node), label + writer.inside(node))
  },
  image: (node, writer) => changed(node, picture(node, { ...writer.blockAttributes(node), loading: 'lazy' })),
  inlineImage: (node) => picture(node, { loading: 'lazy' }),
  horizontalRule: (node, writer) => changed(node, `<hr${attributes(writer.blockAttributes(node))}>`),
  blockMath: source('latex'),
  htmlBlock: source('html'),
  frontmatter: source('yaml'),
}

function changed(node: BodyNode, html: string): string {
  const change = changeClass(node)
  return change === null ? html : element(change === 'inserted' ? 'ins' : 'del', {}, html)
}
