import { type Caller, visibleWorkspaces } from '../auth/caller.ts'
import { attachmentSrc } from '../body/addresses.ts'
import type { Queryable } from '../database/database.ts'
import { Refusal } from '../errors/errors.ts'
import { type AttachmentRow, visibleAttachment } from './queries.ts'
import type { Attachment } from './schema.ts'

/** The attachment of an id. Refuses with 404 `attachment_not_found` when the caller cannot see such an attachment. */
export async function requireAttachment(db: Queryable, input: { id: string; caller: Caller }): Promise<AttachmentRow> {
  const { id, caller } = input
  const attachment = await visibleAttachment(db, { id, workspaceIds: visibleWorkspaces(caller) })
  if (attachment === null) throw new Refusal('attachment_not_found', { details: { id } })
  return attachment
}

/** An attachment as the API returns it. */
export function presentAttachment(row: AttachmentRow): Attachment {
  const { id, document_id, filename, content_type, size, sha256, referenced, created_at, created_by } = row
  const url = attachmentSrc(id)
  return { id, document_id, filename, content_type, size, sha256, url, referenced, created_at, created_by }
}
