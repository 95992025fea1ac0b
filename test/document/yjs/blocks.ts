import type { BodyNode } from '../../../shared/body/document.ts'
import { idFrom } from './random-body.ts'

/** A paragraph with the id of a number. */
export function paragraph(id: number, text: string): BodyNode {
  return { type: 'paragraph', attrs: { id: idFrom(id) }, content: [{ type: 'text', text }] }
}

/** An item of a list with one paragraph, whose id follows the id of the item. */
export function listItem(id: number, text: string): BodyNode {
  return { type: 'listItem', attrs: { id: idFrom(id) }, content: [paragraph(id + 1, text)] }
}

/** A bullet list with the id of a number. */
export function bulletList(id: number, ...items: BodyNode[]): BodyNode {
  return { type: 'bulletList', attrs: { id: idFrom(id) }, content: items }
}
