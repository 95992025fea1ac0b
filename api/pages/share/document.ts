import { createHash } from 'node:crypto'
import { renderHtml } from '../../../shared/body/html.ts'
import { currentBody } from '../../../shared/body/queries.ts'
import { StoredBody } from '../../../shared/body/stored-body.ts'
import { sharePath } from '../../../shared/sharing/present.ts'
import { publicDocument } from '../../../shared/sharing/public-document.ts'
import { pageHeaders } from '../headers.ts'
import { type Moment, momentOf } from '../moment.ts'
import { page } from '../page.ts'
import { pageMissing } from '../refusals.ts'
import { view } from '../render.ts'
import { requireShare } from './shared.ts'

const shareView = view<{ html: string; changed: Moment }>('share')

/** A shared document, for anybody who has its link (decisions C, 104). */
export const sharePage = page({
  path: '/s/{shareId}',
  async get(call) {
    const { id, workspace_id, document_id } = await requireShare(call)
    const locator = { documentId: document_id, workspaceIds: [workspace_id] }
    const stored = await currentBody(call.service.database, locator)
    if (stored === null) throw pageMissing()
    const { document } = new StoredBody({ version: stored.version, text: stored.body })
    const imageSrc = (attachmentId: string) => `${sharePath(id)}/attachments/${attachmentId}`
    const html = accessible(renderHtml(publicDocument(document, imageSrc)))
    const frame = { title: stored.title, locale: stored.locale, bare: true }
    return {
      html: shareView({ ...frame, html, changed: momentOf(stored.updated_at) }),
      headers: { ...pageHeaders({ 'style-src': styleSources(html) }), 'X-Robots-Tag': 'noindex, nofollow' },
    }
  },
})

// What can be wider than the screen scrolls by itself, so it has to be reachable without a mouse; boxes of tasks have no
// label of their own. Only the renderer writes these tags in this form: the sanitiser lets none through.
function accessible(html: string): string {
  return html
    .replaceAll(/<(pre|table) data-block-id/g, '<$1 tabindex="0" data-block-id')
    .replaceAll(
      '<input type="checkbox" disabled checked>',
      '<input type="checkbox" disabled checked aria-label="done">',
    )
    .replaceAll('<input type="checkbox" disabled>', '<input type="checkbox" disabled aria-label="to do">')
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
