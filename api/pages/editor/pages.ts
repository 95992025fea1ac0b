import { inlineImageTypes } from '../../../shared/attachments/media-types.ts'
import { visibleAttachment } from '../../../shared/attachments/queries.ts'
import type { Membership } from '../../../shared/auth/caller.ts'
import { membershipsOf } from '../../../shared/auth/queries.ts'
import { mintTicket } from '../../../shared/auth/tickets.ts'
import { currentBody } from '../../../shared/body/queries.ts'
import { collaborationUrl } from '../../../shared/config/collaboration-url.ts'
import { visibleDocument } from '../../../shared/documents/queries.ts'
import { entityTagOf, hasVersion } from '../../http/preconditions.ts'
import { bytesHeaders, sendBytes } from '../../http/send-bytes.ts'
import { type AccountCall, accountPage } from '../account-page.ts'
import { pageHeaders } from '../headers.ts'
import { panelsBeside } from '../panels/frame.ts'
import { pageMissing } from '../refusals.ts'
import { view } from '../render.ts'
import { scriptPath } from '../scripts/bundle.ts'
import { sharedHtml } from '../share/shared-html.ts'
import { styleSources } from '../share/style-sources.ts'

/** What the script of the editor reads from its page. */
type EditorData = {
  documentId: string
  userId: string
  csrfToken: string
  collaborationUrl: string
  mayWrite: boolean
}

type Panels = Awaited<ReturnType<typeof panelsBeside>>

const editorView = view<{ html: string; script: string; editor: EditorData; panels: Panels }>('editor')

/**
 * A document for the people of its workspace (api/guide/collaboration.md#editor): its text as HTML, which the editor
 * replaces where scripts run.
 */
export const editorPage = accountPage({
  path: '/d/{documentId}',
  async get(call) {
    const { service, params, user, account, csrfToken } = call
    const memberships = await membershipsOf(service.database, user.userId)
    const document = await currentBody(service.database, locatorOf(params, memberships))
    if (document === null) throw pageMissing()
    const { id, title, locale, body } = document
    const role = memberships.find(({ workspace_id }) => workspace_id === document.workspace_id)?.role
    const [html, script] = await Promise.all([sharedHtml({ text: body, path: `/d/${id}` }), scriptPath('editor')])
    const liveAddress = collaborationUrl(service.config)
    const editor = {
      documentId: id,
      userId: user.userId,
      csrfToken,
      collaborationUrl: liveAddress,
      mayWrite: role === 'owner' || role === 'editor',
    }
    return {
      html: editorView({ title, locale, account, html, script, editor, panels: await panelsBeside(id) }),
      headers: pageHeaders({
        'script-src': "'self'",
        'style-src': styleSources(html),
        'connect-src': `'self' ${new URL(liveAddress).origin}`,
      }),
    }
  },
})

/** A ticket with which the editor of a page opens its document (api/guide/collaboration.md#tokens). */
export const ticketPage = accountPage({
  path: '/d/{documentId}/ticket',
  async receive(call) {
    const { service, params, user } = call
    const memberships = await membershipsOf(service.database, user.userId)
    const document = await visibleDocument(service.database, locatorOf(params, memberships))
    if (document === null) throw pageMissing()
    const { SESSION_SECRET: secret } = service.config
    const ticket = mintTicket(secret, { documentId: document.id, userId: user.userId, sessionId: call.sessionId })
    call.response.json({ ticket })
    return undefined
  },
})

/** An attachment for the people of its workspace. An image is shown, as in the editor; any other file is a download. */
export const editorAttachmentPage = accountPage({
  path: '/d/{documentId}/attachments/{attachmentId}',
  async get(call) {
    const { service, request, response, params, user } = call
    const memberships = await membershipsOf(service.database, user.userId)
    const { workspaceIds } = locatorOf(params, memberships)
    const attachment = await visibleAttachment(service.database, { id: params['attachmentId'] ?? '', workspaceIds })
    if (attachment === null) throw pageMissing()
    const isImage = inlineImageTypes.has(attachment.content_type)
    const version = `sha256:${attachment.sha256}`
    response.set({ 'Cache-Control': 'private, no-cache', ETag: entityTagOf(version) })
    if (hasVersion(request, version)) {
      response.status(304).end()
      return undefined
    }
    response
      .set(bytesHeaders(attachment))
      .set('Content-Type', isImage ? attachment.content_type : 'application/octet-stream')
    if (isImage) response.set('Content-Disposition', 'inline')
    if (request.method === 'HEAD') response.end()
    else await sendBytes(service.files, { attachment, response })
    return undefined
  },
})

function locatorOf(params: AccountCall['params'], memberships: readonly Membership[]) {
  const workspaceIds = memberships.map(({ workspace_id }) => workspace_id)
  return { documentId: params['documentId'] ?? '', workspaceIds }
}
