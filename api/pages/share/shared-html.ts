import { StoredBody, textComputation } from '../../../shared/body/stored-body.ts'
import { compute } from '../../../shared/computations/compute.ts'
import { publicDocument } from '../../../shared/sharing/public-document.ts'
import { pageHtml } from './page-html.ts'

/** A stored body, and the path of the page below which its images are served. */
type SharedBody = { text: string; path: string }

/** A stored body as the HTML that strangers get. */
export function sharedHtml(shared: SharedBody): Promise<string> {
  return compute(rendering, shared)
}

/** The work of `sharedHtml`, which a thread calls by its name. @public */
export function renderShared({ text, path }: SharedBody): string {
  const { document } = new StoredBody({ version: '', text })
  return pageHtml(publicDocument(document, (attachmentId) => `${path}/attachments/${attachmentId}`))
}

// Colouring code and setting math cost far more for each character than the plain forms of a body.
const rendering = textComputation({ module: import.meta.url, run: renderShared, smallLength: 4 * 1024 })
