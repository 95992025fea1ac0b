import { StoredBody, textComputation } from '../../../shared/body/stored-body.ts'
import { compute } from '../../../shared/computations/compute.ts'
import { publicDocument } from '../../../shared/sharing/public-document.ts'
import { pageHtml } from './page-html.ts'

/**
 * The text of a stored body, and the path of its page. Images have addresses below this path. Blocks after the first
 * `shown` blocks are only for browsers without scripts.
 */
type SharedBody = { text: string; path: string; shown?: number }

/** Renders a stored body as HTML for everybody who has the link, in a thread when the body is large. */
export function sharedHtml(shared: SharedBody): Promise<string> {
  return compute(rendering, shared)
}

/** Renders the text of a stored body as the HTML of its page. A thread imports this function by its name. @public */
export function renderShared({ text, path, shown }: SharedBody): string {
  const { document } = new StoredBody({ version: '', text })
  const published = publicDocument(document, (attachmentId) => `${path}/attachments/${attachmentId}`)
  return pageHtml(published, shown === undefined ? {} : { shown })
}

// Colouring code and rendering math cost far more for each character than other text. So every body of more than 4096
// characters is rendered in a thread.
const rendering = textComputation({ module: import.meta.url, run: renderShared, smallLength: 4 * 1024 })
