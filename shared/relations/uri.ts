import { blockIdPattern, documentIdPattern } from '../schema/ids.ts'

const documentId = documentIdPattern.slice(1, -1)
const blockId = blockIdPattern.slice(1, -1)

/** Pattern of the address of a document or of one of its blocks (decisions 2.9). */
export const documentUriPattern = `^svc://doc/${documentId}(#block=${blockId})?$`

const documentUri = new RegExp(`^svc://doc/(${documentId})(?:#block=(${blockId}))?$`)

/** What such an address names; null when it is another address, or none. */
export function parseDocumentUri(uri: string): { documentId: string; blockId: string | null } | null {
  const match = documentUri.exec(uri)
  return match?.[1] === undefined ? null : { documentId: match[1], blockId: match[2] ?? null }
}

/** The address of a block of a document. */
export function blockUri(end: { documentId: string; blockId: string }): string {
  return `svc://doc/${end.documentId}#block=${end.blockId}`
}
