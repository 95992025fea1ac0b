import { renderHtml } from '../../../shared/body/html.ts'
import { StoredBody } from '../../../shared/body/stored-body.ts'
import { publicDocument } from '../../../shared/sharing/public-document.ts'

/** A stored body as the HTML that strangers get; `path` is that of its page, below which its images are served. */
export function sharedHtml({ text, path }: { text: string; path: string }): string {
  const { document } = new StoredBody({ version: '', text })
  return accessible(renderHtml(publicDocument(document, (attachmentId) => `${path}/attachments/${attachmentId}`)))
}

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
