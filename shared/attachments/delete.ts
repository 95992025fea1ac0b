import { type Caller, requireWriter, visibleWorkspaces } from '../auth/caller.ts'
import { giveBackLocks, lockAttachment, markLocks, referencingDocuments } from '../body/attachment-reference-queries.ts'
import { type CommitContext, commitBody } from '../body/commit.ts'
import { withoutImagesOf } from '../body/remove-images.ts'
import type { Transaction } from '../database/database.ts'
import { lockDocuments } from '../documents/queries.ts'
import { Refusal } from '../errors/errors.ts'
import { type AttachmentRow, deleteAttachmentRow, visibleAttachment } from './queries.ts'

/**
 * Deletes an attachment; its bytes are removed once the deletion is committed. 404 `attachment_not_found`, 403 without a
 * writing role. While bodies of the workspace show it, 409 `attachment_referenced` names up to 20 of them; with `force`
 * its images are taken out of every one of them through the commit door (decisions 4.14).
 */
export async function deleteAttachment(
  context: CommitContext,
  input: { id: string; caller: Caller; force: boolean },
): Promise<void> {
  const { tx } = context
  const { id, caller, force } = input
  const attachment = await visibleAttachment(tx, { id, workspaceIds: visibleWorkspaces(caller) })
  if (attachment === null) throw new Refusal('attachment_not_found', { details: { id } })
  requireWriter(caller, attachment.workspace_id)
  const documentIds = force ? await holdReferencing(tx, attachment) : await requireUnreferenced(tx, attachment)
  for (const documentId of documentIds) {
    const edit = ({ lines }: { lines: readonly string[] }) => ({ text: withoutImagesOf(lines, id).join('\n') })
    await commitBody(context, { documentId, caller, edit })
  }
  await deleteAttachmentRow(tx, attachment)
}

type Key = Pick<AttachmentRow, 'workspace_id' | 'id'>

async function requireUnreferenced(tx: Transaction, attachment: Key): Promise<readonly string[]> {
  await hold(tx, attachment)
  const documentIds = await referencingDocuments(tx, { attachment, limit: 20 })
  if (documentIds.length > 0) throw new Refusal('attachment_referenced', { details: { document_ids: documentIds } })
  return documentIds
}

// A writer holds its document before the attachments that it newly shows, so that is the order here too. When another
// document has come to show it in between, all locks are given back and taken again.
async function holdReferencing(tx: Transaction, attachment: Key): Promise<readonly string[]> {
  await markLocks(tx)
  for (let round = 1; round <= rounds; round += 1) {
    const documentIds = await referencingDocuments(tx, { attachment, limit: null })
    await lockDocuments(tx, { workspaceId: attachment.workspace_id, documentIds })
    await hold(tx, attachment)
    const current = await referencingDocuments(tx, { attachment, limit: null })
    if (current.every((documentId) => documentIds.includes(documentId))) return current
    await giveBackLocks(tx)
  }
  throw new Refusal('service_unavailable', { headers: { 'Retry-After': '1' } })
}

// How often new documents may come to show it before the caller is asked to try again.
const rounds = 5

async function hold(tx: Transaction, attachment: Key): Promise<void> {
  if (await lockAttachment(tx, attachment)) return
  throw new Refusal('attachment_not_found', { details: { id: attachment.id } })
}
