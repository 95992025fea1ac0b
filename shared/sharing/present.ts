import type { ShareRow } from './queries.ts'
import type { PublicShare } from './schema.ts'

/** A share as the API returns it; `origin` is the one people reach the service under. */
export function presentShare(share: ShareRow, origin: string): PublicShare {
  return {
    document_id: share.document_id,
    share_id: share.id,
    url: `${origin}${sharePath(share.id)}`,
    access: 'read',
    comments_enabled: false,
    created_at: share.created_at,
  }
}

/** Path of the page of a share. */
export function sharePath(shareId: string): string {
  return `/s/${shareId}`
}
