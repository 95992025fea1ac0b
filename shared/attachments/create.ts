import { type Caller, requireWriter, visibleWorkspaces } from '../auth/caller.ts'
import type { Config } from '../config/config.ts'
import type { Transaction } from '../database/database.ts'
import { lockDocument } from '../documents/queries.ts'
import { Refusal } from '../errors/errors.ts'
import { makeRoom } from '../quotas/quotas.ts'
import { claimFile } from './orphans.ts'
import { type AttachmentRow, insertAttachment } from './queries.ts'
import type { ReceivedFile } from './upload.ts'

/**
 * Makes a received file an attachment of a document: 404 `document_not_found`, 403 without a writing role, 503 when the
 * transfer took so long that the file was swept, 409 `quota_exceeded` when the workspace has no room for its bytes.
 */
export async function createAttachment(
  context: { tx: Transaction; config: Pick<Config, 'QUOTA_ATTACHMENT_BYTES' | 'ATTACHMENT_MAX_BYTES'> },
  input: { caller: Caller; documentId: string; file: ReceivedFile },
): Promise<AttachmentRow> {
  const { tx, config } = context
  const { caller, documentId, file } = input
  const document = await lockDocument(tx, { documentId, workspaceIds: visibleWorkspaces(caller) })
  if (document === null) throw new Refusal('document_not_found', { details: { id: documentId, field: 'document_id' } })
  requireWriter(caller, document.workspace_id)
  if (!(await claimFile(tx, file.id))) throw new Refusal('service_unavailable', { headers: { 'Retry-After': '1' } })
  const { id, filename, contentType, size, sha256 } = file
  await makeRoom(tx, {
    workspaceId: document.workspace_id,
    quota: 'attachment_bytes',
    limit: config.QUOTA_ATTACHMENT_BYTES,
    adding: size,
    largest: Math.max(size, config.ATTACHMENT_MAX_BYTES),
  })
  return insertAttachment(tx, {
    workspace_id: document.workspace_id,
    id,
    document_id: document.id,
    filename,
    content_type: contentType,
    size,
    sha256,
    created_by: caller.userId,
  })
}
