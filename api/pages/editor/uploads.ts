import { createAttachment, Upload } from '../../../shared/attachments/upload.ts'
import { inTransaction } from '../../../shared/database/database.ts'
import { releaseUpload } from '../../http/payload.ts'
import { streamOfBody } from '../../http/request-body.ts'
import { accountPage } from '../account-page.ts'
import { recordPageWrite } from '../page-writes.ts'

/**
 * Stores a file that a person puts into a document. The body of the request is the file, and `name` of the query is its
 * name. The rules are those of the API (api/guide/attachments.md#uploads).
 */
export const editorUploadPage = accountPage({
  path: '/d/{documentId}/attachments',
  async receive(call) {
    const { service, request, response, params, query, caller } = call
    const { config, database } = service
    const documentId = params['documentId'] ?? ''
    const upload = new Upload(service)
    try {
      const contentType = (request.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
      await upload.receive({ bytes: streamOfBody(request), filename: query.get('name') ?? '', contentType })
      const file = upload.received
      if (file === null) throw new Error('a file that was received is there')
      const { id } = await inTransaction(database, async (tx) => {
        const attachment = await createAttachment({ tx, config }, { caller, documentId, file })
        await recordPageWrite(tx, { call, action: 'createAttachment', documentIds: [documentId] })
        return attachment
      })
      response.status(201).json({ attachment_id: id })
    } finally {
      await releaseUpload(service, upload)
    }
    return undefined
  },
})
