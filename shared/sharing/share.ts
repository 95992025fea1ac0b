import { ulid } from 'ulid'
import { type Caller, requireWriter, visibleWorkspaces } from '../auth/caller.ts'
import type { Transaction } from '../database/database.ts'
import { lockDocument } from '../documents/queries.ts'
import { Refusal } from '../errors/errors.ts'
import * as queries from './queries.ts'

/**
 * The share of a document, made if it has none (decisions 4.8). 404 when the document is not visible, 403 when the role
 * may not write or `enabled` is false, that is when the operator wants no public links.
 */
export async function ensureShare(
  tx: Transaction,
  request: { documentId: string; caller: Caller; enabled: boolean },
): Promise<{ share: queries.ShareRow; created: boolean }> {
  const { documentId, caller } = request
  const document = await lockDocument(tx, { documentId, workspaceIds: visibleWorkspaces(caller) })
  if (document === null) throw new Refusal('document_not_found', { details: { id: documentId } })
  const { workspace_id } = document
  requireWriter(caller, workspace_id)
  if (!request.enabled) throw new Refusal('public_share_disabled')
  const existing = await queries.shareOfDocument(tx, { workspaceId: workspace_id, documentId })
  if (existing !== null) return { share: existing, created: false }
  // Eighty random bits each: ids that only count upwards could be guessed from one another.
  const share = { workspace_id, document_id: documentId, id: `shr_${ulid()}`, created_by: caller.userId }
  return { share: await queries.insertShare(tx, share), created: true }
}
