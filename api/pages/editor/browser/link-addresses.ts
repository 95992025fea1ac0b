import { attachmentIdOf, attachmentSrc } from '../../../../shared/body/addresses.ts'
import { documentIdPattern, ulidPattern } from '../../../../shared/schema/ids.ts'

const documentId = documentIdPattern.slice(1, -1)
const documentUri = new RegExp(`^svc://doc/(${documentId})(?:#block=(block_${ulidPattern}))?$`)
const documentPage = new RegExp(`^/d/(${documentId})(?:#(block_${ulidPattern}))?$`)
const attachmentPage = new RegExp(`^/d/${documentId}/attachments/(att_${ulidPattern})$`)

/**
 * The address at which a browser opens a link of the document `inDocument`. A link to a document leads to its page, and
 * a link to an attachment to the file. Every other link leads to its own address.
 */
export function openableAddress(href: string, inDocument: string): string {
  const [, id, block] = documentUri.exec(href) ?? []
  if (id !== undefined) return `/d/${id}${block === undefined ? '' : `#${block}`}`
  const attachmentId = attachmentIdOf(href)
  return attachmentId === null ? href : `/d/${inDocument}/attachments/${attachmentId}`
}

/**
 * The address that a link has in the document: the reverse of `openableAddress`. A person copies the address of a page,
 * and the document names what the page shows.
 */
export function storedAddress(address: string): string {
  const path = address.startsWith(`${location.origin}/`) ? address.slice(location.origin.length) : address
  const [, id, block] = documentPage.exec(path) ?? []
  if (id !== undefined) return `svc://doc/${id}${block === undefined ? '' : `#block=${block}`}`
  const [, attachmentId] = attachmentPage.exec(path) ?? []
  return attachmentId === undefined ? address : attachmentSrc(attachmentId)
}
