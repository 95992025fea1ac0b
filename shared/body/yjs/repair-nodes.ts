import type { BodyNode } from '../document.ts'
import { bodySchema, inlineTypes, isTextblock } from '../nodes.ts'
import type { RawDocument } from './encoding.ts'

/** A repair that has been made. `block_id` is the id, from before the repair, of the nearest block that has an id. */
export type Repair = { kind: RepairKind; type: string; block_id: string | null }
export type RepairKind =
  | 'id_added'
  | 'id_changed'
  | 'id_restored'
  | 'retyped'
  | 'wrapped'
  | 'unwrapped'
  | 'rearranged'
  | 'filled'
  | 'removed'
  | 'values'

/**
 * A state of one pass of repairs. It has the repairs so far, the deepest level that a container may have, and the id of
 * the nearest block around.
 */
export type Pass = { repairs: Repair[]; deepest: number; blockId: string | null }

const inlineForms: { [type: string]: string } = {
  image: 'inlineImage',
  blockMath: 'inlineMath',
  htmlBlock: 'htmlInline',
}
const itemsOf: { [list: string]: string } = { bulletList: 'listItem', orderedList: 'listItem', taskList: 'taskItem' }

/** Reports a repair of a node. */
export function note(pass: Pass, kind: RepairKind, node: BodyNode): void {
  pass.repairs.push({ kind, type: node.type, block_id: idOrNull(node) ?? pass.blockId })
}

/** The block id of a node, valid or not; null when the node has no block id. */
export function idOrNull(node: BodyNode): string | null {
  const id = inlineTypes.has(node.type) ? undefined : node.attrs?.id
  return typeof id === 'string' ? id : null
}

/**
 * The children of `details` in their order: one summary, and one content that holds everything else. Other parents keep
 * their children.
 */
export function arranged(parent: BodyNode, pass: Pass): readonly BodyNode[] {
  const children = parent.content ?? []
  if (parent.type !== 'details' || children.length === 0) return children
  const summary = children.find((child) => child.type === 'detailsSummary') ?? { type: 'detailsSummary' }
  const holder = children.find((child) => child.type === 'detailsContent') ?? { type: 'detailsContent' }
  if (children.length === 2 && children[0] === summary && children[1] === holder) return children
  note(pass, 'rearranged', parent)
  const others = children.filter((child) => child !== summary)
  const content = others.flatMap((child) => (child.type === 'detailsContent' ? (child.content ?? []) : child))
  return [summary, content.length > 0 ? { ...holder, content } : holder]
}

/**
 * Takes the next child from `open`, whose last node comes first. Inline nodes under a parent that holds blocks become
 * one paragraph.
 */
export function nextChild(open: BodyNode[], parent: string, pass: Pass): BodyNode | undefined {
  const child = takeFrom(open, pass)
  if (!child || isTextblock(parent) || !inlineTypes.has(child.type)) return child
  const content = [child]
  while (inlineTypes.has(open.at(-1)?.type ?? '')) content.push(takeFrom(open, pass) ?? child)
  note(pass, 'wrapped', child)
  return { type: 'paragraph', content }
}

/** How many cells each row of a table lacks at its end, so that all rows cover the same number of columns. */
export function missingCells(rows: readonly BodyNode[]): number[] {
  // The columns that begin or end to be covered by cells of rows above.
  const changes = new Array<number>(rows.length).fill(0)
  let above = 0
  const widths = rows.map(({ content: cells = [] }, row) => {
    above += changes[row] ?? 0
    let width = above
    for (const { attrs } of cells) {
      const [columns, end] = [spanOf(attrs?.colspan), row + spanOf(attrs?.rowspan)]
      width += columns
      if (row + 1 < rows.length) changes[row + 1] = (changes[row + 1] ?? 0) + columns
      if (end < rows.length) changes[end] = (changes[end] ?? 0) - columns
    }
    return width
  })
  const width = widths.reduce((most, own) => Math.max(most, own), 0)
  const missing = widths.map((own) => width - own)
  return missing.reduce((sum, own) => sum + own, 0) > maxAddedCells ? widths.map(() => 0) : missing
}

// A table with more gaps than people make by adding rows and columns at once stays as it is.
const maxAddedCells = 2000

function spanOf(value: unknown): number {
  return typeof value === 'number' ? value : 1
}

/** The nodes that replace a node which may not stand at its position: its content, or else its text. */
export function unwrapped(node: BodyNode): BodyNode[] {
  if (node.content?.length) return [...node.content]
  const text = inlineText(node)
  return text === '' ? [] : [{ type: 'text', text }]
}

/** True if a node holds other blocks. */
export function isContainer(node: BodyNode): boolean {
  return !inlineTypes.has(node.type) && !isTextblock(node.type) && (node.content?.length ?? 0) > 0
}

/**
 * Changes the type of a node that may not stand under its parent to the corresponding type that may, such as
 * `inlineImage` to `image`. Id and content stay. Returns the node itself if there is no such type.
 */
export function retyped(node: BodyNode, { parent, isFirst }: { parent: string; isFirst: boolean }): BodyNode {
  const type = typeAt(node.type, parent)
  if (node.type === 'frontmatter' && !(parent === 'doc' && isFirst)) return asCode(node)
  if (parent === 'codeBlock' && node.type !== 'text') return asText(node)
  if (type === node.type) return node
  return isTextblock(parent) ? asInline(node, type) : { ...node, type }
}

/** The text of an inline node other than a text, for a position where only text may stand. */
function inlineText(node: BodyNode): string {
  if (node.type === 'hardBreak') return '\n'
  const { latex, html, yaml, label, alt, id } = node.attrs ?? {}
  if (node.type === 'mention') return String(label ?? id ?? '')
  if (node.type === 'footnoteReference') return `[^${label ?? ''}]`
  const said = [node.text, latex, html, yaml, alt].find((value) => typeof value === 'string')
  return typeof said === 'string' ? said : ''
}

/** The number of levels of blocks in a body or node, where the body or node itself is the first level. */
export function depthOf(node: BodyNode | RawDocument): number {
  const blocks = (node.content ?? []).filter((child) => !inlineTypes.has(child.type))
  return 1 + blocks.reduce((deepest, child) => Math.max(deepest, depthOf(child)), 0)
}

/**
 * Takes the last of the open nodes. If the node is of a type without content but has content, the content is taken out
 * and follows the node.
 */
function takeFrom(open: BodyNode[], pass: Pass): BodyNode | undefined {
  const node = open.pop()
  if (!node?.content || !bodySchema.nodes[node.type]?.isLeaf) return node
  const { content, ...leaf } = node
  for (const child of content.toReversed()) open.push(child)
  note(pass, 'unwrapped', node)
  return leaf
}

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
