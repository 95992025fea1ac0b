import * as Y from 'yjs'
import type { Attrs, BodyNode } from '../document.ts'
import { bodySchema, inlineTypes } from '../nodes.ts'
import { marksOf, splitElementAttributes } from './marks.ts'

/** The root type that holds the body: the default field of Tiptap's Collaboration extension. Never rename it. */
const fragmentName = 'default'

/**
 * What a Y document holds, as it stands: block ids may be missing or doubled and nodes may be where the schema does
 * not allow them, until `repairDocument` has seen it.
 */
export type RawDocument = { type: 'doc'; content: BodyNode[] }

/** A place the schema has no word for: child indices from the root, and the name found there. */
export type UnknownNode = { path: number[]; type: string }

/** The type under which content that is neither element nor text is read; nothing of it can be expressed. */
const foreignType = 'yjs:foreign'

// Far above what the schema allows (32), far below what a stack holds.
const deepest = 200

/** The fragment of a Y document that holds the body. */
export function bodyFragment(doc: Y.Doc): Y.XmlFragment {
  return doc.getXmlFragment(fragmentName)
}

/**
 * The body of a Y document, and every node in it whose type the schema does not know. Reads only: the readers of the
 * editor bindings delete what they do not know or what is incomplete, which on a server would delete it for everyone.
 * The attribute objects are those of the Y document, so do not change them.
 */
export function readDocument(fragment: Y.XmlFragment): { document: RawDocument; unknown: UnknownNode[] } {
  const content = readChildren(fragment)
  return { document: { type: 'doc', content }, unknown: unknownIn(content, []) }
}

/** One element of a Y document as a node. Elements nested beyond reason come out as foreign nodes. */
export function readElement(element: Y.XmlElement, depth = 0): BodyNode {
  if (depth > deepest) return { type: foreignType }
  const { attrs, marks } = splitElementAttributes(element.getAttributes())
  const content = readChildren(element, depth + 1)
  return {
    type: element.nodeName,
    ...(attrs && { attrs }),
    ...(content.length > 0 && { content }),
    ...(marks.length > 0 && { marks }),
  }
}

/** The children of an element or fragment as nodes; texts that stand side by side with equal marks become one. */
export function readChildren(parent: Y.XmlFragment, depth = 0): BodyNode[] {
  const nodes: BodyNode[] = []
  for (const child of childrenOf(parent)) {
    if (child instanceof Y.XmlText) for (const node of readText(child)) appendNode(nodes, node)
    else nodes.push(child instanceof Y.XmlElement ? readElement(child, depth) : { type: foreignType })
  }
  return nodes
}

/** The children of an element or fragment. A client can put any type or value there, not only XML. */
export function childrenOf(parent: Y.XmlFragment): unknown[] {
  return parent.toArray()
}

/** The block id a child of a fragment or element carries, if any. Inline nodes carry none, as in `blockIdOf`. */
export function idOf(child: unknown): string | undefined {
  const isBlock = child instanceof Y.XmlElement && !inlineTypes.has(child.nodeName)
  const id: unknown = isBlock ? child.getAttribute('id') : undefined
  return typeof id === 'string' ? id : undefined
}

/** The runs of a Y text as text nodes. What is no text (an embed) comes out as a `yjs:foreign` node of length one. */
export function readText(text: Y.XmlText): BodyNode[] {
  const runs = text.toDelta() as { insert: unknown; attributes?: Attrs }[]
  return runs.map(({ insert, attributes }) => {
    if (typeof insert !== 'string') return { type: foreignType }
    const marks = marksOf(attributes)
    return marks.length > 0 ? { type: 'text', text: insert, marks } : { type: 'text', text: insert }
  })
}

/** Appends an inline node, joining text to a text before it that has the same marks. Changes `nodes`. */
export function appendNode(nodes: BodyNode[], node: BodyNode): void {
  const last = nodes.at(-1)
  const joins = last?.type === 'text' && node.type === 'text' && equalMarks(last, node)
  if (joins) nodes[nodes.length - 1] = { ...last, text: `${last.text ?? ''}${node.text ?? ''}` }
  else if (node.type !== 'text' || node.text) nodes.push(node)
}

function equalMarks(a: BodyNode, b: BodyNode): boolean {
  if (a.marks === b.marks) return true
  return JSON.stringify(a.marks ?? []) === JSON.stringify(b.marks ?? [])
}

function unknownIn(nodes: readonly BodyNode[], path: number[]): UnknownNode[] {
  return nodes.flatMap((node, index) => {
    const here = [...path, index]
    const below = node.content ? unknownIn(node.content, here) : []
    return Object.hasOwn(bodySchema.nodes, node.type) ? below : [{ path: here, type: node.type }, ...below]
  })
}
