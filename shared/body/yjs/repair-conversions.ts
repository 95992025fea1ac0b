import type { BodyNode } from '../document.ts'
import { inlineTypes, isTextblock } from '../nodes.ts'
import type { RawDocument } from './encoding.ts'

/**
 * A node as the type that says the same at a place where its own type may not stand, keeping id and content; the node
 * itself if there is no such type.
 */
export function retyped(node: BodyNode, { parent, isFirst }: { parent: string; isFirst: boolean }): BodyNode {
  const type = typeAt(node.type, parent)
  if (node.type === 'frontmatter' && !(parent === 'doc' && isFirst)) return asCode(node)
  if (parent === 'codeBlock' && node.type !== 'text') return asText(node)
  if (type === node.type) return node
  return isTextblock(parent) ? asInline(node, type) : { ...node, type }
}

/** What an inline node that is no text says, where only text may stand. */
export function inlineText(node: BodyNode): string {
  if (node.type === 'hardBreak') return '\n'
  const { latex, html, yaml, label, alt, id } = node.attrs ?? {}
  if (node.type === 'mention') return String(label ?? id ?? '')
  if (node.type === 'footnoteReference') return `[^${label ?? ''}]`
  const said = [node.text, latex, html, yaml, alt].find((value) => typeof value === 'string')
  return typeof said === 'string' ? said : ''
}

/** How many levels of blocks a body has, itself included. */
export function depthOf(node: BodyNode | RawDocument): number {
  const blocks = (node.content ?? []).filter((child) => !inlineTypes.has(child.type))
  return 1 + blocks.reduce((deepest, child) => Math.max(deepest, depthOf(child)), 0)
}

const inlineForms: { [type: string]: string } = {
  image: 'inlineImage',
  blockMath: 'inlineMath',
  htmlBlock: 'htmlInline',
}
const itemsOf: { [list: string]: string } = { bulletList: 'listItem', orderedList: 'listItem', taskList: 'taskItem' }

function typeAt(type: string, parent: string): string {
  if (isTextblock(parent)) return inlineForms[type] ?? type
  if (type === 'inlineImage') return 'image'
  if (type === 'detailsSummary' && parent !== 'details') return 'paragraph'
  const isItem = type === 'listItem' || type === 'taskItem'
  return (isItem ? itemsOf[parent] : undefined) ?? type
}

function asInline(node: BodyNode, type: string): BodyNode {
  const { id: _, ...attrs } = node.attrs ?? {}
  return { type, attrs }
}

function asCode(node: BodyNode): BodyNode {
  const text = inlineText(node)
  const attrs = { ...(node.attrs?.id === undefined ? {} : { id: node.attrs.id }), language: 'yaml' }
  return { type: 'codeBlock', attrs, ...(text !== '' && { content: [{ type: 'text', text }] }) }
}

function asText(node: BodyNode): BodyNode {
  const text = inlineText(node)
  return text === '' ? node : { type: 'text', text }
}
