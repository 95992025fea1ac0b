import { ulid } from 'ulid'
import { type Caller, requireWriter, visibleWorkspaces } from '../auth/caller.ts'
import { hashPassword } from '../auth/passwords.ts'
import type { Queryable, Transaction } from '../database/database.ts'
import { requireLockedDocument } from '../documents/require.ts'
import { Refusal } from '../errors/errors.ts'
import * as queries from './queries.ts'
import type { PublicShare } from './schema.ts'

/** The secured parts of a share. An absent member stays as it is, null takes it away. */
export type ShareSecurity = { expiresAt?: number | null | undefined; passwordHash?: string | null | undefined }

/**
 * The expiry and the password of a request, with the password as its hash. Hashing takes long, so it needs no
 * transaction.
 */
export async function shareSecurity(input: {
  expires_at?: number | null
  password?: string | null
}): Promise<ShareSecurity> {
  const { expires_at: expiresAt, password } = input
  return { expiresAt, passwordHash: typeof password === 'string' ? await hashPassword(password) : password }
}

/** Refuses with 400 `invalid_request` an expiry that is not in the future. Absence and null are no expiry. */
export function requireFutureExpiry(expiresAt: number | null | undefined): void {
  if (expiresAt === undefined || expiresAt === null || expiresAt > Date.now()) return
  const message = 'must be a time in the future in Unix milliseconds, or null'
  throw new Refusal('invalid_request', { details: { fields: [{ path: '/expires_at', message }] } })
}

/**
 * The share of a document; a document without a share gets one. A share that exists stays as it is. Refuses with 404
 * when the document is not visible, and with 403 when the role may not write. With `enabled` false, because the
 * operator wants no public links, it refuses with 403 `public_share_disabled`.
 */
export async function ensureShare(
  tx: Transaction,
  request: {
    documentId: string
    caller: Caller
    enabled: boolean
    security: () => ShareSecurity | Promise<ShareSecurity>
  },
): Promise<{ share: queries.ShareRow; created: boolean }> {
  const { documentId, caller } = request
  const document = await requireLockedDocument(tx, { documentId, caller })
  const { workspace_id } = document
  requireWriter(caller, workspace_id)
  if (!request.enabled) throw new Refusal('public_share_disabled')
  const existing = await queries.shareOfDocument(tx, { workspaceId: workspace_id, documentId })
  if (existing !== null) return { share: existing, created: false }
  const { expiresAt: expires_at = null, passwordHash: password_hash = null } = await request.security()
  // A fresh ULID has eighty random bits. `newId` counts upwards within a millisecond, so a share's id could be guessed
  // from another id.
  const id = `shr_${ulid()}`
  const share = { workspace_id, document_id: documentId, id, expires_at, password_hash, created_by: caller.userId }
  return { share: await queries.insertShare(tx, share), created: true }
}

/**
 * Changes expiry and password of a share, which may have expired. Refuses with 404 `share_not_found`, and with 403 when
 * the role may not write.
 */
export async function changeShare(
  tx: Transaction,
  request: { id: string; caller: Caller; security: () => ShareSecurity | Promise<ShareSecurity> },
): Promise<queries.ShareRow> {
  const share = await requireWritableShare(tx, request)
  const changed = await queries.updateShare(tx, share, await request.security())
  if (changed === null) throw shareMissing(request.id)
  return changed
}

/**
 * Revokes a share and returns it as it was: its address answers 404 for good. Refuses with 404 `share_not_found`, and
 * with 403 when the role may not write.
 */
export async function revokeShare(tx: Transaction, request: { id: string; caller: Caller }): Promise<queries.ShareRow> {
  const share = await requireWritableShare(tx, request)
  if (!(await queries.deleteShare(tx, share))) throw shareMissing(request.id)
  return share
}

/** A share as the API returns it; `origin` is the address of the service as people reach it. */
export function presentShare(share: queries.ShareRow, origin: string): PublicShare {
  return {
    document_id: share.document_id,
    share_id: share.id,
    url: `${origin}${sharePath(share.id)}`,
    access: 'read',
    comments_enabled: false,
    expires_at: share.expires_at,
    has_password: share.password_hash !== null,
    view_count: share.view_count,
    last_viewed_at: share.last_viewed_at,
    created_at: share.created_at,
    created_by: share.created_by,
  }
}

/** The path of the page of a share. */
export function sharePath(shareId: string): string {
  return `/s/${shareId}`
}

async function requireWritableShare(
  db: Queryable,
  { id, caller }: { id: string; caller: Caller },
): Promise<queries.ShareRow> {
  const share = await queries.visibleShare(db, { id, workspaceIds: visibleWorkspaces(caller) })
  if (share === null) throw shareMissing(id)
  requireWriter(caller, share.workspace_id)
  return share
}

function shareMissing(id: string): Refusal {
  return new Refusal('share_not_found', { details: { id } })
}
