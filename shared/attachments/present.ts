import { attachmentSrc } from '../body/addresses.ts'
import type { AttachmentRow } from './queries.ts'
import type { Attachment } from './schema.ts'

/** An attachment as the API returns it. */
export function presentAttachment(row: AttachmentRow): Attachment {
  const { id, document_id, filename, content_type, size, sha256, referenced, created_at, created_by } = row
  const url = attachmentSrc(id)
  return { id, document_id, filename, content_type, size, sha256, url, referenced, created_at, created_by }
}
