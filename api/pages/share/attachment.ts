import { inlineImageTypes } from '../../../shared/attachments/media-types.ts'
import { shownAttachment } from '../../../shared/attachments/queries.ts'
import { entityTagOf } from '../../http/preconditions.ts'
import { bytesHeaders, sendBytes } from '../../http/send-bytes.ts'
import { page } from '../page.ts'
import { pageMissing } from '../refusals.ts'
import { hasVersion, requireShare } from './shared.ts'

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
