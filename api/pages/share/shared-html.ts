import { renderHtml } from '../../../shared/body/html.ts'
import { StoredBody } from '../../../shared/body/stored-body.ts'
import { textComputation } from '../../../shared/body/text-computation.ts'
import { compute } from '../../../shared/computations/compute.ts'
import { publicDocument } from '../../../shared/sharing/public-document.ts'

/** A stored body, and the path of the page below which its images are served. */
type SharedBody = { text: string; path: string }

/** A stored body as the HTML that strangers get. */
export function sharedHtml(shared: SharedBody): Promise<string> {
  return compute(rendering, shared)
}

/** The work of `sharedHtml`, which a thread calls by its name. @public */
export function renderShared({ text, path }: SharedBody): string {
  const { document } = new StoredBody({ version: '', text })
  return accessible(renderHtml(publicDocument(document, (attachmentId) => `${path}/attachments/${attachmentId}`)))
}

const rendering = textComputation({ module: import.meta.url, run: renderShared })

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
