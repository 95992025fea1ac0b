import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { inlineImageTypes } from '../../../shared/attachments/media-types.ts'
import { shownAttachment } from '../../../shared/attachments/queries.ts'
import { type CurrentBody, currentBody } from '../../../shared/body/queries.ts'
import { visibleDocument } from '../../../shared/documents/queries.ts'
import { type ShareRow, shareById } from '../../../shared/sharing/queries.ts'
import { shareIdPattern } from '../../../shared/sharing/schema.ts'
import { sharePath } from '../../../shared/sharing/share.ts'
import { entityTagOf, hasVersion } from '../../http/preconditions.ts'
import { rateLimitHeaders } from '../../http/rate-limit.ts'
import { addressOf } from '../../http/requesters.ts'
import { bytesHeaders, sendBytes } from '../../http/send-bytes.ts'
import { pageHeaders } from '../headers.ts'
import { type PageCall, page } from '../page.ts'
import { pageMissing } from '../refusals.ts'
import { type Moment, momentOf, view } from '../render.ts'
import { sharedHtml } from './shared-html.ts'

const shareView = view<{ html: string; changed: Moment }>('share')

/**
 * A shared document, for anybody who has its link. Share and document are looked up for each visit,
 * so that nothing is shown of what is gone; the page itself is remembered, and clients that have it get a 304.
 */
export const sharePage = page({
  path: '/s/{shareId}',
  async get(call) {
    const { request, response } = call
    const { database } = call.service
    const share = await requireShare(call)
    const locator = { documentId: share.document_id, workspaceIds: [share.workspace_id] }
    const document = await visibleDocument(database, locator)
    if (document === null) throw pageMissing()
    const { version, bytes, headers } = await renderedPage(keyOf(share, document), async () => {
      const stored = await currentBody(database, locator)
      if (stored === null) throw pageMissing()
      return { key: keyOf(share, stored), page: await renderPage(share, stored) }
    })
    response.set(headers).set('ETag', entityTagOf(version))
    if (hasVersion(request, version)) response.status(304).end()
    else response.type('text/html; charset=utf-8').send(bytes)
    return undefined
  },
})

// Everything that the page of a share depends on.
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
      'Cache-Control': 'private, no-cache',
      'X-Robots-Tag': 'noindex, nofollow',
    },
  }
}

// Alignment and colours stand in style attributes, of which the policy admits exactly those: by their hashes, and so
// many at most that the header stays small. What only looks like such an attribute adds a hash of a harmless text.
function styleSources(html: string): string {
  const styles = new Set(Array.from(html.matchAll(/ style="([a-z-]+:[^"<>&;]+)"/g), (match) => match[1] as string))
  if (styles.size === 0) return "'self'"
  const hashes = [...styles]
    .slice(0, 40)
    .map((style) => `'sha256-${createHash('sha256').update(style).digest('base64')}'`)
  return ["'self'", "'unsafe-hashes'", ...hashes].join(' ')
}

/** An image of a shared document, shown as what it is (decisions C, 105, and D45); any other file is a download. */
export const shareAttachmentPage = page({
  path: '/s/{shareId}/attachments/{attachmentId}',
  async get(call) {
    const { service, request, response, params } = call
    const { workspace_id: workspaceId, document_id: documentId } = await requireShare(call)
    const key = { workspaceId, documentId, id: params['attachmentId'] ?? '' }
    const attachment = await shownAttachment(service.database, key)
    if (attachment === null) throw pageMissing()
    const isImage = inlineImageTypes.has(attachment.content_type)
    const version = `sha256:${attachment.sha256}`
    response.set('Cache-Control', 'private, no-cache').set('ETag', entityTagOf(version))
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

/**
 * The share that the path names; a page that says that there is nothing, when there is none or none may be read. Each
 * visit counts for its address: 429 when there are too many.
 */
async function requireShare({ service, request, response, params }: PageCall): Promise<ShareRow> {
  const limit = await service.rateLimiter.consume('share', addressOf(request))
  if (limit !== null) response.set(rateLimitHeaders(limit))
  const id = params['shareId'] ?? ''
  const isReadable = service.config.PUBLIC_SHARE_ENABLED && new RegExp(shareIdPattern).test(id)
  const share = isReadable ? await shareById(service.database, id) : null
  if (share === null) throw pageMissing()
  return share
}

/** A page as it is sent; `version` is that of its bytes, for the ETag. */
export type RenderedPage = { version: string; bytes: Buffer; headers: Record<string, string> }

/** A page that was rendered, and the key of what it shows. */
type Rendering = { key: string; page: RenderedPage }

/**
 * The rendered pages of this process that were asked for last, 64 MiB at most. A key names everything that a page
 * depends on, so a page never has to be forgotten for being old.
 */
const pages = new LRUCache<string, RenderedPage>({
  maxSize: 64 * 1024 * 1024,
  sizeCalculation: ({ bytes }, key) => bytes.length + key.length + 1000,
})

const running = new Map<string, Promise<Rendering>>()

/**
 * The page of a key. It is rendered when it is not remembered, once for all who ask at the same time; `render` names
 * the key of what it has rendered, since that can have changed meanwhile. Rejects as `render` does.
 */
export async function renderedPage(key: string, render: () => Promise<Rendering>): Promise<RenderedPage> {
  const known = pages.get(key)
  if (known !== undefined) return known
  // Whoever began may have failed for a reason of its own, such as a client that went away.
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
