import type { Node } from '@tiptap/core'
import type { DOMOutputSpec } from '@tiptap/pm/model'
import { attachmentIdOf, isAllowedHref } from '../../../../shared/body/addresses.ts'
import { ownNode } from './body-schema.ts'

/**
 * The nodes for images. An attachment is shown. A picture from elsewhere is a link, so that no other host learns who
 * reads the document.
 */
export function pictures(documentId: string): Node[] {
  return [picture('image', documentId), picture('inlineImage', documentId)]
}

function picture(name: 'image' | 'inlineImage', documentId: string): Node {
  const tag = name === 'image' ? 'div' : 'span'
  return ownNode(name, ({ attrs }) => {
    const { alt, title, width, height } = attrs
    const src = String(attrs['src'] ?? '')
    const attachmentId = attrs['attachmentId'] ?? attachmentIdOf(src)
    if (attachmentId === null) return [tag, { class: 'picture' }, elsewhere(src, alt)]
    const address = `/d/${documentId}/attachments/${encodeURIComponent(attachmentId)}`
    return [tag, { class: 'picture' }, ['img', { src: address, alt: alt ?? '', title, width, height }]]
  })
}

function elsewhere(src: string, alt: string | null): DOMOutputSpec {
  const words = `Picture: ${alt || src || 'without an address'}`
  if (!isAllowedHref(src)) return ['span', {}, words]
  return ['a', { href: src, rel: 'noopener noreferrer nofollow' }, words]
}
