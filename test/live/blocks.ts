import * as Y from 'yjs'
import type { BlockNode, BodyNode, DocNode } from '../../shared/body/document.ts'
import { idFrom } from '../document/yjs/random-body.ts'

/** A body of the given blocks. */
export function body(...content: (BodyNode | undefined)[]): DocNode {
  return { type: 'doc', content: content as BlockNode[] }
}

/** A paragraph with the id of a number. */
export function p(id: number, value: string): BlockNode {
  return { attrs: { id: idFrom(id) }, content: [{ text: value, type: 'text' }], type: 'paragraph' }
}

/** A paragraph as an editor makes it. */
export function paragraphElement(id: number, value: string): Y.XmlElement {
  const element = new Y.XmlElement('paragraph')
  element.setAttribute('id', idFrom(id))
  element.insert(0, [new Y.XmlText(value)])
  return element
}

/** The texts below a node, with a space between those of neighbours. */
export function words(node: BodyNode | DocNode | undefined): string {
  const own = node && 'text' in node ? (node.text ?? '') : ''
  return own + (node?.content ?? []).map(words).join(' ')
}
