import { StoredBody } from '../../../shared/body/stored-body.ts'
import { publicDocument } from '../../../shared/sharing/public-document.ts'
import { pageHtml } from './page-html.ts'

/** A stored body as the HTML that strangers get; `path` is that of its page, below which its images are served. */
export function sharedHtml({ text, path }: { text: string; path: string }): string {
  const { document } = new StoredBody({ version: '', text })
  return pageHtml(publicDocument(document, (attachmentId) => `${path}/attachments/${attachmentId}`))
}
