import { namesOfUsers } from '../../../shared/auth/queries.ts'
import { type ShareRow, shareOfDocument } from '../../../shared/sharing/queries.ts'
import { presentShare, sharePath } from '../../../shared/sharing/share.ts'
import { accountPage } from '../account-page.ts'
import { type DocumentCall, documentCallOf } from '../document-call.ts'
import { pageHeaders } from '../headers.ts'
import type { Form } from '../page.ts'
import { type Moment, momentOf, view } from '../render.ts'
import { scriptPath } from '../scripts/bundle.ts'
import { type Place, placeOf } from '../workspace/place.ts'
import { changeSharing, type SharingProblem, sharingProblemOf } from './changes.ts'

const sharingView = view<{
  script: string
  csrfToken: string
  document: { id: string; title: string }
  place: Place
  mayWrite: boolean
  isEnabled: boolean
  share: ShownShare | null
  /** The expiry as it was filled in, and why the form was refused. */
  form: { expires: string; at: string; problem: SharingProblem | null }
}>('sharing')

/** The public link of a document (api/guide/documents.md#sharing): its address, expiry, password and views. */
export const sharingPage = accountPage({
  path: '/d/{documentId}/sharing',
  async get(call) {
    return show(await documentCallOf(call), null)
  },
  async post(call) {
    const documentCall = await documentCallOf(call)
    const { submitted } = call
    const problem = await changeSharing(documentCall, submitted).catch(sharingProblemOf)
    if (problem === null) return { location: `/d/${documentCall.document.id}/sharing` }
    // The document and the role may have changed since.
    return show(await documentCallOf(call), { submitted, problem })
  },
})

async function show(call: DocumentCall, refused: { submitted: Form; problem: SharingProblem } | null) {
  const { service, document, mayWrite, account, csrfToken } = call
  const { id, title, workspace_id: workspaceId } = document
  const share = await shareOfDocument(service.database, { workspaceId, documentId: id })
  const script = await scriptPath('sharing')
  const html = sharingView({
    title: `Sharing · ${title}`,
    account,
    script,
    csrfToken,
    document: { id, title },
    place: await placeOf(service.database, document),
    mayWrite,
    isEnabled: service.config.PUBLIC_SHARE_ENABLED,
    share: share && (await shownShare(call, share)),
    form: {
      expires: refused?.submitted.field('expires') ?? '',
      at: refused?.submitted.field('at') ?? '',
      problem: refused?.problem ?? null,
    },
  })
  return { status: refused?.problem.status ?? 200, html, headers: pageHeaders({ 'script-src': "'self'" }) }
}

/** A link as the page shows it. */
type ShownShare = {
  id: string
  url: string
  path: string
  expires: Moment | null
  isExpired: boolean
  hasPassword: boolean
  views: number
  lastViewed: Moment | null
  created: Moment
  creator: string | null
}

async function shownShare({ service }: DocumentCall, share: ShareRow): Promise<ShownShare> {
  const { created_by: creator, expires_at, last_viewed_at } = share
  const names = creator === null ? null : await namesOfUsers(service.database, [creator])
  return {
    id: share.id,
    url: presentShare(share, service.config.PUBLIC_ORIGIN).url,
    path: sharePath(share.id),
    expires: expires_at === null ? null : momentOf(expires_at),
    isExpired: expires_at !== null && expires_at <= Date.now(),
    hasPassword: share.password_hash !== null,
    views: share.view_count,
    lastViewed: last_viewed_at === null ? null : momentOf(last_viewed_at),
    created: momentOf(share.created_at),
    creator: names?.get(creator ?? '') ?? null,
  }
}
