import { visibleAttachment } from '../../../shared/attachments/queries.ts'
import { visibleWorkspaces } from '../../../shared/auth/caller.ts'
import { mintTicket } from '../../../shared/auth/tickets.ts'
import { levelState } from '../../../shared/body/live/queries.ts'
import { currentBody } from '../../../shared/body/queries.ts'
import { collaborationUrl } from '../../../shared/config/collaboration-url.ts'
import type { DocumentRow } from '../../../shared/documents/queries.ts'
import { Refusal } from '../../../shared/errors/errors.ts'
import type { Service } from '../../http/service.ts'
import { type AccountCall, accountPage } from '../account-page.ts'
import { documentCallOf } from '../document-call.ts'
import { pageHeaders } from '../headers.ts'
import type { PageAnswer } from '../page.ts'
import { panelsBeside } from '../panels/frame.ts'
import { pageMissing } from '../refusals.ts'
import { view } from '../render.ts'
import { scriptParts, scriptPath } from '../scripts/bundle.ts'
import { sendAttachment } from '../send-attachment.ts'
import { sharedHtml } from '../share/shared-html.ts'
import { styleSources } from '../share/style-sources.ts'
import { type Place, placeOf } from '../workspace/place.ts'

/** What the script of the editor reads from its page. */
type EditorData = {
  documentId: string
  userId: string
  csrfToken: string
  collaborationUrl: string
  mayWrite: boolean
}

type EditorView = {
  html: string
  place: Place
  scripts: { first: string; parts: string[] }
  editor: EditorData
  panels: Awaited<ReturnType<typeof panelsBeside>>
}

const editorView = view<EditorView>('editor')
const missingView = view<{ advice: string; documentId: string; userId: string; script: string }>('missing-document')

// The number of blocks that people see before the editor is there. Reading and laying out the HTML of a long document
// would delay the editor.
const shown = 200

/**
 * A document for the people of its workspace (api/guide/collaboration.md#editor): its text as HTML, which the editor
 * replaces where scripts run.
 */
export const editorPage = accountPage({
  path: '/d/{documentId}',
  async get(call) {
    const found = await documentCallOf(call).catch(isMissing)
    if (found === null) return missingDocument(call)
    const { service, user, account, csrfToken, document, mayWrite } = found
    const { id: documentId, workspace_id: workspaceId } = document
    const written = await currentBody(service.database, { documentId, workspaceIds: [workspaceId] })
    if (written === null) throw pageMissing()
    const { id, title, locale, body } = written
    const [html, place, first, parts, panels] = await Promise.all([
      sharedHtml({ text: body, path: `/d/${id}`, shown }),
      placeOf(service.database, document),
      scriptPath('editor'),
      scriptParts('editor'),
      panelsBeside(id),
    ])
    const liveAddress = collaborationUrl(service.config)
    const editor = {
      documentId,
      userId: user.userId,
      csrfToken,
      collaborationUrl: liveAddress,
      mayWrite,
    }
    return {
      html: editorView({ title, locale, account, html, place, scripts: { first, parts }, editor, panels }),
      headers: pageHeaders({
        'script-src': "'self'",
        'style-src': styleSources(html),
        'connect-src': `'self' ${new URL(liveAddress).origin}`,
        // Diagrams are drawn in a frame, and shown as pictures that a script has made.
        'frame-src': "'self'",
        'img-src': "'self' blob:",
      }),
    }
  },
})

function isMissing(error: unknown): null {
  if (error instanceof Refusal && error.status === 404) return null
  throw error
}

// The browser may have text of the document that was never sent.
async function missingDocument({ account, params, user }: AccountCall): Promise<PageAnswer> {
  const { heading: title, message: advice } = pageMissing()
  const script = await scriptPath('unsent')
  const named = { documentId: params['documentId'] ?? '', userId: user.userId }
  return {
    status: 404,
    html: missingView({ title, account, advice, ...named, script }),
    headers: pageHeaders({ 'script-src': "'self'" }),
  }
}

/** A ticket with which the editor of a page opens its document (api/guide/collaboration.md#tokens). */
export const ticketPage = accountPage({
  path: '/d/{documentId}/ticket',
  async receive(call) {
    const { service, response, user, sessionId, document } = await documentCallOf(call)
    const { SESSION_SECRET: secret } = service.config
    const ticket = mintTicket(secret, { documentId: document.id, userId: user.userId, sessionId })
    response.json({ ticket })
    return undefined
  },
})

// The most bytes of a state. A larger document comes by live editing, in small messages.
const mostStateBytes = 8 * 1024 * 1024

/**
 * The stored Y document of a document, from which the editor begins while it connects: updates, each behind its length
 * in four bytes. The first call derives it. While it is behind the body, live editing has to follow, and the answer is
 * 204.
 */
export const liveStatePage = accountPage({
  path: '/d/{documentId}/state',
  async get(call) {
    const { service, response, document } = await documentCallOf(call)
    const read = () => levelState(service.database, document, mostStateBytes)
    const stored = (await read()) ?? (await derived(service, document).then(read))
    response.set('Cache-Control', 'no-store')
    if (stored === null) response.status(204).end()
    else response.type('application/octet-stream').end(framed([stored.state, ...stored.updates]))
    return undefined
  },
})

// Yjs is loaded by the first document that needs it.
async function derived({ database }: Service, document: DocumentRow): Promise<void> {
  const { deriveFirstState } = await import('../../../shared/body/live/replica.ts')
  await deriveFirstState(database, document)
}

function framed(updates: readonly Uint8Array[]): Buffer {
  return Buffer.concat(
    updates.flatMap((update) => {
      const length = Buffer.alloc(4)
      length.writeUInt32BE(update.byteLength)
      return [length, update]
    }),
  )
}

/** An attachment for the people of its workspace. An image is shown, as in the editor; any other file is a download. */
export const editorAttachmentPage = accountPage({
  path: '/d/{documentId}/attachments/{attachmentId}',
  async get(call) {
    const { service, params, caller } = call
    const locator = { id: params['attachmentId'] ?? '', workspaceIds: visibleWorkspaces(caller) }
    const attachment = await visibleAttachment(service.database, locator)
    if (attachment === null) throw pageMissing()
    await sendAttachment(call, { attachment, caching: 'private, no-cache' })
    return undefined
  },
})
