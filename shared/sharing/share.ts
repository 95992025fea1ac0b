import { ulid } from 'ulid'
import { type Caller, requireWriter } from '../auth/caller.ts'
import type { Transaction } from '../database/database.ts'
import { requireLockedDocument } from '../documents/require.ts'
import { Refusal } from '../errors/errors.ts'
import * as queries from './queries.ts'
import type { PublicShare } from './schema.ts'

/**
 * The share of a document; a document without a share gets one. Refuses with 404 when the document is not visible, and
 * with 403 when the role may not write. With `enabled` false, because the operator wants no public links, it refuses
 * with 403 `public_share_disabled`.
 */
export async function ensureShare(
  tx: Transaction,
  request: { documentId: string; caller: Caller; enabled: boolean },
): Promise<{ share: queries.ShareRow; created: boolean }> {
  const { documentId, caller } = request
  const document = await requireLockedDocument(tx, { documentId, caller })
  const { workspace_id } = document
  requireWriter(caller, workspace_id)
  if (!request.enabled) throw new Refusal('public_share_disabled')
  const existing = await queries.shareOfDocument(tx, { workspaceId: workspace_id, documentId })
  if (existing !== null) return { share: existing, created: false }
  // A fresh ULID has eighty random bits. `newId` counts upwards within a millisecond, so a share's id could be guessed
  // from another id.
  const share = { workspace_id, document_id: documentId, id: `shr_${ulid()}`, created_by: caller.userId }
  return { share: await queries.insertShare(tx, share), created: true }
}

/** A share as the API returns it; `origin` is the address of the service as people reach it. */
export function presentShare(share: queries.ShareRow, origin: string): PublicShare {
  return {
    document_id: share.document_id,
    share_id: share.id,
    url: `${origin}${sharePath(share.id)}`,
    access: 'read',
    comments_enabled: false,
    created_at: share.created_at,
  }
}

/** The path of the page of a share. */
export function sharePath(shareId: string): string {
  return `/s/${shareId}`
}
