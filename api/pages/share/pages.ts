import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { shownAttachment } from '../../../shared/attachments/queries.ts'
import { type CurrentBody, currentBody } from '../../../shared/body/queries.ts'
import { visibleDocument } from '../../../shared/documents/queries.ts'
import { openShare, type ShareRow } from '../../../shared/sharing/queries.ts'
import { shareIdPattern } from '../../../shared/sharing/schema.ts'
import { sharePath } from '../../../shared/sharing/share.ts'
import { countView } from '../../../shared/sharing/views.ts'
import { entityTagOf, hasVersion } from '../../http/preconditions.ts'
import { rateLimitHeaders } from '../../http/rate-limit.ts'
import { addressOf } from '../../http/requesters.ts'
import { pageHeaders } from '../headers.ts'
import { type PageCall, page } from '../page.ts'
import { PageRefusal, pageMissing } from '../refusals.ts'
import { type Moment, momentOf, view } from '../render.ts'
import { sendAttachment } from '../send-attachment.ts'
import { enterPassword, isAdmitted, passwordPage } from './password.ts'
import { sharedHtml } from './shared-html.ts'
import { styleSources } from './style-sources.ts'

/** A page as it is sent. `version` is the digest of its bytes, for the ETag. */
type RenderedPage = { version: string; bytes: Buffer; headers: Record<string, string> }

/** A rendered page, and the key (`keyOf`) of the document that it shows. */
type Rendering = { key: string; page: RenderedPage }

// The rendered pages of this process that were asked for last, at most 64 MiB. The key of a page names everything that
// the page depends on, so a cached page is never outdated.
const pages = new LRUCache<string, RenderedPage>({
  maxSize: 64 * 1024 * 1024,
  sizeCalculation: ({ bytes }, key) => bytes.length + key.length + 1000,
})

// The renderings that are going on, by key.
const running = new Map<string, Promise<Rendering>>()

const shareView = view<{ html: string; changed: Moment }>('share')

/**
 * A shared document, for everybody who has its link and its password (api/guide/documents.md#sharing). Share and
 * document are looked up at each visit, so nothing is shown that was deleted, revoked or has expired. The rendered page
 * is cached, and clients that have it get a 304.
 */
export const sharePage = page({
  path: '/s/{shareId}',
  async get(call) {
    const { request, response } = call
    const { database } = call.service
    const share = await requireShare(call)
    if (!isAdmitted(call, share)) return passwordPage(share, { failed: false })
    const locator = { documentId: share.document_id, workspaceIds: [share.workspace_id] }
    const document = await visibleDocument(database, locator)
    if (document === null) throw pageMissing()
    const { version, bytes, headers } = await renderedPage(keyOf(share, document), async () => {
      const stored = await currentBody(database, locator)
      if (stored === null) throw pageMissing()
      return { key: keyOf(share, stored), page: await renderPage(share, stored) }
    })
    if (request.method === 'GET') countView(call.service, share)
    response.set(headers).set({ 'Cache-Control': cachingOf(share), ETag: entityTagOf(version) })
    if (hasVersion(request, version)) response.status(304).end()
    else response.type('text/html; charset=utf-8').send(bytes)
    return undefined
  },
  async post(call) {
    return enterPassword(call, await requireShare(call))
  },
})

/**
 * An attachment of a shared document (api/guide/documents.md#sharing). An image is shown; any other file is a download.
 */
export const shareAttachmentPage = page({
  path: '/s/{shareId}/attachments/{attachmentId}',
  async get(call) {
    const { service, params } = call
    const share = await requireShare(call)
    if (!isAdmitted(call, share)) throw passwordMissing()
    const { workspace_id: workspaceId, document_id: documentId } = share
    const key = { workspaceId, documentId, id: params['attachmentId'] ?? '' }
    const attachment = await shownAttachment(service.database, key)
    if (attachment === null) throw pageMissing()
    await sendAttachment(call, { attachment, caching: cachingOf(share) })
    return undefined
  },
})

// Finds the share that the path names. Refuses with the 404 page when there is no open share, or when shares are
// switched off. Refuses with 429 after too many visits from one address.
async function requireShare({ service, request, response, params }: PageCall): Promise<ShareRow> {
  const limit = await service.rateLimiter.consume('share', addressOf(request))
  if (limit !== null) response.set(rateLimitHeaders(limit))
  const id = params['shareId'] ?? ''
  const isReadable = service.config.PUBLIC_SHARE_ENABLED && new RegExp(shareIdPattern).test(id)
  const share = isReadable ? await openShare(service.database, id) : null
  if (share === null) throw pageMissing()
  return share
}

// The refusal (403) of a file before the password was given. It is the same for all files, existing or not.
function passwordMissing(): PageRefusal {
  return new PageRefusal(403, {
    heading: 'A password is needed',
    advice: 'Open the shared document first, and give its password there.',
  })
}

// Browsers keep a page to ask whether it is still current. They do not keep what a password protects.
function cachingOf(share: ShareRow): string {
  return share.password_hash === null ? 'private, no-cache' : 'no-store'
}

// Names everything that the page of a share depends on.
function keyOf(share: ShareRow, document: Omit<CurrentBody, 'body' | 'body_seq'>): string {
  const { version, title, locale, updated_at } = document
  return JSON.stringify([share.id, version, title, locale, updated_at])
}

async function renderPage(share: ShareRow, stored: CurrentBody): Promise<RenderedPage> {
  const html = await sharedHtml({ text: stored.body, path: sharePath(share.id) })
  const frame = { title: stored.title, locale: stored.locale, bare: true }
  const bytes = Buffer.from(shareView({ ...frame, html, changed: momentOf(stored.updated_at) }))
  return {
    version: `sha256:${createHash('sha256').update(bytes).digest('hex')}`,
    bytes,
    headers: {
      ...pageHeaders({ 'style-src': styleSources(html) }),
      'X-Robots-Tag': 'noindex, nofollow',
    },
  }
}

// Returns the page of a key. Calls that ask for the same page at the same time share one rendering. `render` returns
// the key of the document that it has rendered, because the document can have changed meanwhile. When `render` rejects,
// this function rejects with the same error.
async function renderedPage(key: string, render: () => Promise<Rendering>): Promise<RenderedPage> {
  const known = pages.get(key)
  if (known !== undefined) return known
  // The call that began to render may have failed for its own reason, such as a client that went away. Then this call
  // renders the page itself.
  const shared = await running.get(key)?.catch(() => undefined)
  if (shared !== undefined) return shared.page
  const rendering = render()
  running.set(key, rendering)
  try {
    const rendered = await rendering
    pages.set(rendered.key, rendered.page)
    return rendered.page
  } finally {
    if (running.get(key) === rendering) running.delete(key)
  }
}
