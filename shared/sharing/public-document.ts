import { attachmentIdOf } from '../body/addresses.ts'
import type { BodyNode, DocNode, Mark } from '../body/document.ts'

/**
 * The body that the page of a share shows. Frontmatter and the ids of mentioned users are left out; the names of the
 * users stay. Images of the service get their address from `imageSrc`. Images from elsewhere become links, so that no
 * other server learns who reads. Links within the service become plain text, since readers of the page cannot follow
 * them.
 */
export function publicDocument(document: DocNode, imageSrc: (attachmentId: string) => string): DocNode {
  const content = document.content.filter(({ type }) => type !== 'frontmatter')
  return { ...document, content: content.map((node) => publicNode(node, imageSrc)) } as DocNode
}

function publicNode(node: BodyNode, imageSrc: (attachmentId: string) => string): BodyNode {
  if (node.type === 'image' || node.type === 'inlineImage') return publicImage(node, imageSrc)
  return {
    ...node,
    ...(node.type === 'mention' && { attrs: { id: '', label: node.attrs?.['label'] ?? 'somebody' } }),
    ...(node.content && { content: node.content.map((child) => publicNode(child, imageSrc)) }),
    ...(node.marks && { marks: node.marks.filter((mark) => !isInternal(mark)) }),
  }
}

function publicImage(node: BodyNode, imageSrc: (attachmentId: string) => string): BodyNode {
  const attrs = node.attrs ?? {}
  const src = typeof attrs['src'] === 'string' ? attrs['src'] : ''
  const attachmentId = attachmentIdOf(src)
  const marks = (node.marks ?? []).filter((mark) => !isInternal(mark))
  if (attachmentId !== null) return { ...node, attrs: { ...attrs, src: imageSrc(attachmentId) }, marks }
  const label = typeof attrs['alt'] === 'string' && attrs['alt'] !== '' ? attrs['alt'] : src
  const link: BodyNode = { type: 'text', text: label, marks: [{ type: 'link', attrs: { href: src } }] }
  if (node.type === 'inlineImage') return link
  return { type: 'paragraph', attrs: attrs['id'] === undefined ? {} : { id: attrs['id'] }, content: [link] }
}

function isInternal({ type, attrs }: Mark): boolean {
  return type === 'link' && /^\s*svc:/i.test(String(attrs?.['href']))
}
