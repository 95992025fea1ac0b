import type { Attrs, BlockNode, BodyNode, DocNode, Mark } from '../../shared/body/document.ts'
import { normaliseDocument } from '../../shared/body/normalise.ts'

type Content = BodyNode | string

/** A normalised document of the given blocks, ids added. */
export function doc(...blocks: BodyNode[]): DocNode {
  return normaliseDocument({ type: 'doc', content: blocks }, { from: 'json' }).result
}

/** A node of any type; strings become texts. */
export function node(type: string, attrs: Attrs = {}, ...content: Content[]): BodyNode {
  const children = content.map((child) => (typeof child === 'string' ? text(child) : child))
  return { type, attrs, content: children }
}

/** A paragraph. */
export function p(...content: Content[]): BodyNode {
  return node('paragraph', {}, ...content)
}

/** A heading of a level. */
export function h(level: number, ...content: Content[]): BodyNode {
  return node('heading', { level }, ...content)
}

/** A bullet list with an item for each argument. */
export function ul(...items: BodyNode[]): BodyNode {
  return node('bulletList', {}, ...items.map((item) => node('listItem', {}, item)))
}

/** A text with marks, given as names or as marks. */
export function text(value: string, ...marks: (string | Mark)[]): BodyNode {
  const list = marks.map((mark) => (typeof mark === 'string' ? { type: mark } : mark))
  return list.length > 0 ? { type: 'text', text: value, marks: list } : { type: 'text', text: value }
}

/** A block id that ends in the given characters. */
export function blockId(end: string): string {
  return `block_${end.padStart(26, '0')}`
}

/** The JSON of a node without any block id, for comparing contents. */
export function withoutIds(value: unknown): string {
  return JSON.stringify(value, (name, member) =>
    name === 'id' && String(member).startsWith('block_') ? undefined : member,
  )
}

/** The block at a position. */
export function at(document: DocNode, position: number): BlockNode {
  return document.content[position] as BlockNode
}
