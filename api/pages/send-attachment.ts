import { inlineImageTypes } from '../../shared/attachments/media-types.ts'
import type { AttachmentRow } from '../../shared/attachments/queries.ts'
import { entityTagOf, hasVersion } from '../http/preconditions.ts'
import { bytesHeaders, sendBytes } from '../http/send-bytes.ts'
import type { PageCall } from './page.ts'

/**
 * Sends an attachment to a browser that may see it. An image is shown; any other file is a download. `caching` is the
 * header `Cache-Control`. A browser that has the file already gets 304.
 */
export async function sendAttachment(
  { service, request, response }: PageCall,
  { attachment, caching }: { attachment: AttachmentRow; caching: string },
): Promise<void> {
  const isImage = inlineImageTypes.has(attachment.content_type)
  const version = `sha256:${attachment.sha256}`
  response.set({ 'Cache-Control': caching, ETag: entityTagOf(version) })
  if (hasVersion(request, version)) {
    response.status(304).end()
    return
  }
  response
    .set(bytesHeaders(attachment))
    .set('Content-Type', isImage ? attachment.content_type : 'application/octet-stream')
  if (isImage) response.set('Content-Disposition', 'inline')
  if (request.method === 'HEAD') response.end()
  else await sendBytes(service.files, { attachment, response })
}
