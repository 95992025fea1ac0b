import type { BodyNode } from '../document.ts'
import { bodySchema, inlineTypes, isTextblock } from '../nodes.ts'
import { inlineText } from './repair-conversions.ts'
import { note, type Pass } from './repair-pass.ts'

/** The parts of details in their order: one summary, and one content that holds whatever else there is. */
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

/** The next child; inline content where blocks belong comes as one paragraph. */
export function nextChild(open: BodyNode[], parent: string, pass: Pass): BodyNode | undefined {
  const child = takeFrom(open, pass)
  if (!child || isTextblock(parent) || !inlineTypes.has(child.type)) return child
  const content = [child]
  while (inlineTypes.has(open.at(-1)?.type ?? '')) content.push(takeFrom(open, pass) ?? child)
  note(pass, 'wrapped', child)
  return { type: 'paragraph', content }
}

/** What comes in the place of a node that may not stand there: its content, or else what it says. */
export function unwrapped(node: BodyNode): BodyNode[] {
  if (node.content?.length) return [...node.content]
  const text = inlineText(node)
  return text === '' ? [] : [{ type: 'text', text }]
}

/** True if a node holds other blocks. */
export function isContainer(node: BodyNode): boolean {
  return !inlineTypes.has(node.type) && !isTextblock(node.type) && (node.content?.length ?? 0) > 0
}

/** Takes the last of the open nodes. What a leaf holds comes out of it and stands behind it. */
function takeFrom(open: BodyNode[], pass: Pass): BodyNode | undefined {
  const node = open.pop()
  if (!node?.content || !bodySchema.nodes[node.type]?.isLeaf) return node
  const { content, ...leaf } = node
  for (const child of content.toReversed()) open.push(child)
  note(pass, 'unwrapped', node)
  return leaf
}
