import { createHash } from 'node:crypto'
import { type CurrentBody, currentBody } from '../../../shared/body/queries.ts'
import { visibleDocument } from '../../../shared/documents/queries.ts'
import type { ShareRow } from '../../../shared/sharing/queries.ts'
import { sharePath } from '../../../shared/sharing/share.ts'
import { entityTagOf } from '../../http/preconditions.ts'
import { pageHeaders } from '../headers.ts'
import { type Moment, momentOf } from '../moment.ts'
import { page } from '../page.ts'
import { pageMissing } from '../refusals.ts'
import { view } from '../render.ts'
import { type RenderedPage, renderedPage } from './rendered-pages.ts'
import { hasVersion, requireShare } from './shared.ts'
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
