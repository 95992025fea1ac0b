import type { Attrs, BodyNode, Mark } from '../document.ts'

const attrsLost = new Set(['id', 'textAlign', 'width', 'height', 'colwidth'])

/**
 * What of a node Markdown can say, for comparing a node with one read from Markdown: without block ids, alignment,
 * sizes, colours, `target` and `rel`. Two nodes with equal text here have the same content as far as Markdown goes.
 */
export function expressible(node: BodyNode): string {
  return JSON.stringify(reduce(node))
}

function reduce(node: BodyNode): BodyNode {
  const attrs = reduceAttrs(node.attrs ?? {})
  const content = mergeTexts((node.content ?? []).map(reduce))
  const marks = (node.marks ?? []).filter((mark) => mark.type !== 'textStyle').map(reduceMark)
  return { type: node.type, attrs, content, marks, text: node.text ?? '' }
}

function reduceAttrs(attrs: Attrs): Attrs {
  return Object.fromEntries(Object.entries(attrs).filter(([name, value]) => !attrsLost.has(name) && value !== ''))
}

function reduceMark(mark: Mark): Mark {
  if (mark.type !== 'link') return { type: mark.type, attrs: {} }
  return { type: mark.type, attrs: { href: mark.attrs?.href ?? '', title: mark.attrs?.title || null } }
}

function mergeTexts(nodes: BodyNode[]): BodyNode[] {
  const merged: BodyNode[] = []
  for (const node of nodes) {
    const last = merged.at(-1)
    if (last?.type === 'text' && node.type === 'text' && JSON.stringify(last.marks) === JSON.stringify(node.marks)) {
      last.text = `${last.text}${node.text}`
    } else merged.push(node)
  }
  return merged
}
