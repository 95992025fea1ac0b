import { type Caller, requireWriter } from '../auth/caller.ts'
import { lockAttachmentForDeletion, referencingDocuments } from '../body/attachment-references.ts'
import { commitBody } from '../body/commit.ts'
import type { CommitContext } from '../body/consequence.ts'
import { removingImages } from '../body/remove-images.ts'
import type { StoredBody } from '../body/stored-body.ts'
import type { Transaction } from '../database/database.ts'
import { markLocks, releaseLocks } from '../database/locks.ts'
import { lockDocuments } from '../documents/queries.ts'
import { Refusal } from '../errors/errors.ts'
import { requireAttachment } from './attachment.ts'
import { type AttachmentRow, deleteAttachmentRow } from './queries.ts'

// How many times a deletion locks the documents that show the attachment, and then the attachment. The deletion starts
// again when another document has come to show the attachment in between.
const maximumRounds = 5

/**
 * Deletes an attachment; the bytes are removed after the commit. Returns its workspace, and the ids of its document and
 * of the documents from which images were removed. Refuses with 404 `attachment_not_found`, and with 403 without a
 * writing role. While bodies of the workspace show the attachment, refuses with 409 `attachment_referenced`, which
 * names up to 20 of the documents. With `force` it removes the images of the attachment from every such body instead,
 * as a write of each document. With `force` it refuses with 503 when, five times in turn, another document has come to
 * show the attachment while the locks were taken.
 */
export async function deleteAttachment(
  context: CommitContext,
  input: { id: string; caller: Caller; force: boolean },
): Promise<{ workspaceId: string; documentIds: string[] }> {
  const { tx } = context
  const { id, caller, force } = input
  const attachment = await requireAttachment(tx, { id, caller })
  requireWriter(caller, attachment.workspace_id)
  const documentIds = force ? await lockReferencing(tx, attachment) : await requireUnreferenced(tx, attachment)
  for (const documentId of documentIds) {
    const edit = async ({ text }: StoredBody) => ({
      text: await context.ahead.result(removingImages, { text, attachmentId: id }),
    })
    await commitBody(context, { documentId, caller, edit })
  }
  await deleteAttachmentRow(tx, attachment)
  return {
    workspaceId: attachment.workspace_id,
    documentIds: [...new Set([attachment.document_id, ...documentIds])],
  }
}

type Key = Pick<AttachmentRow, 'workspace_id' | 'id'>

async function requireUnreferenced(tx: Transaction, attachment: Key): Promise<readonly string[]> {
  await lock(tx, attachment)
  const documentIds = await referencingDocuments(tx, { attachment, limit: 20 })
  if (documentIds.length > 0) throw new Refusal('attachment_referenced', { details: { document_ids: documentIds } })
  return documentIds
}

// Documents are locked before the attachment, since a writer locks its document before the attachments that its body
// newly shows. The other order could end in a deadlock. If another document has come to show the attachment in between,
// all locks are released and taken again.
async function lockReferencing(tx: Transaction, attachment: Key): Promise<readonly string[]> {
  await markLocks(tx)
  for (let round = 1; round <= maximumRounds; round += 1) {
    const documentIds = await referencingDocuments(tx, { attachment, limit: null })
    await lockDocuments(tx, { workspaceId: attachment.workspace_id, documentIds })
    await lock(tx, attachment)
    const current = await referencingDocuments(tx, { attachment, limit: null })
    if (current.every((documentId) => documentIds.includes(documentId))) return current
    await releaseLocks(tx)
  }
  throw new Refusal('service_unavailable', { headers: { 'Retry-After': '1' } })
}

async function lock(tx: Transaction, attachment: Key): Promise<void> {
  if (await lockAttachmentForDeletion(tx, attachment)) return
  throw new Refusal('attachment_not_found', { details: { id: attachment.id } })
}
