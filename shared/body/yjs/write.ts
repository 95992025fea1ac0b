import * as Y from 'yjs'
import type { BodyNode, Json } from '../document.ts'
import { isTextblock } from '../nodes.ts'
import { elementFormats, formatsOf } from './marks.ts'

/**
 * Nodes as Y types that are not part of a document yet, in the encoding of the editor bindings: an element for a
 * node, one Y text for each stretch of text nodes. Equal nodes give equal types.
 */
export function writeNodes(nodes: readonly BodyNode[]): (Y.XmlElement | Y.XmlText)[] {
  const types: (Y.XmlElement | Y.XmlText)[] = []
  let texts: BodyNode[] = []
  const flush = () => {
    if (texts.length > 0) types.push(writeText(texts))
    texts = []
  }
  for (const node of nodes) {
    if (node.type === 'text') texts.push(node)
    else {
      flush()
      types.push(writeNode(node))
    }
  }
  flush()
  return types
}

/**
 * One node as a Y element. An empty textblock gets an empty Y text, so that two people who start typing in it at the
 * same moment write into one text and not into two beside each other.
 */
export function writeNode(node: BodyNode): Y.XmlElement {
  const element = new Y.XmlElement(node.type)
  const attributes = { ...node.attrs, ...elementFormats(node.marks) }
  for (const [name, value] of Object.entries(attributes)) setAttribute(element, name, value)
  const children = writeNodes(node.content ?? [])
  if (children.length === 0 && isTextblock(node.type)) children.push(new Y.XmlText())
  element.insert(0, children)
  return element
}

/** Text nodes as one Y text. */
export function writeText(texts: readonly BodyNode[]): Y.XmlText {
  const text = new Y.XmlText()
  text.applyDelta(texts.map((node) => ({ insert: node.text ?? '', attributes: formatsOf(node.marks) })))
  return text
}

/** Sets an attribute to any JSON value; null, which the bindings never store, removes it. */
export function setAttribute(element: Y.XmlElement, name: string, value: Json | undefined): void {
  // The declared type of Yjs knows strings only; what it stores is any JSON.
  if (value !== null && value !== undefined) element.setAttribute(name, value as string)
  else if (element.doc) element.removeAttribute(name)
}
