import { createHash } from 'node:crypto'
import { currentBody } from '../../../shared/body/queries.ts'
import { sharePath } from '../../../shared/sharing/present.ts'
import { pageHeaders } from '../headers.ts'
import { type Moment, momentOf } from '../moment.ts'
import { page } from '../page.ts'
import { pageMissing } from '../refusals.ts'
import { view } from '../render.ts'
import { requireShare } from './shared.ts'
import { sharedHtml } from './shared-html.ts'

const shareView = view<{ html: string; changed: Moment }>('share')

/** A shared document, for anybody who has its link (decisions C, 104). */
export const sharePage = page({
  path: '/s/{shareId}',
  async get(call) {
    const { id, workspace_id, document_id } = await requireShare(call)
    const locator = { documentId: document_id, workspaceIds: [workspace_id] }
    const stored = await currentBody(call.service.database, locator)
    if (stored === null) throw pageMissing()
    const html = await sharedHtml({ text: stored.body, path: sharePath(id) })
    const frame = { title: stored.title, locale: stored.locale, bare: true }
    return {
      html: shareView({ ...frame, html, changed: momentOf(stored.updated_at) }),
      headers: { ...pageHeaders({ 'style-src': styleSources(html) }), 'X-Robots-Tag': 'noindex, nofollow' },
    }
  },
})

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
