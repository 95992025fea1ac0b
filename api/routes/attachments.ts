import Type from 'typebox'
import { presentAttachment, requireAttachment } from '../../shared/attachments/attachment.ts'
import { deleteAttachment } from '../../shared/attachments/delete.ts'
import { attachmentPage } from '../../shared/attachments/queries.ts'
import { Attachment } from '../../shared/attachments/schema.ts'
import { createAttachment } from '../../shared/attachments/upload.ts'
import { visibleWorkspaces } from '../../shared/auth/caller.ts'
import { IntegerIdFilter } from '../../shared/schema/identifiers.ts'
import { documentIdPattern, ulidPattern } from '../../shared/schema/ids.ts'
import { Text } from '../../shared/schema/strings.ts'
import { decodeCursor, encodeCursor, pageOf } from '../http/pagination.ts'
import { pageParameters } from '../http/parameters.ts'
import { route } from '../http/route.ts'
import { bytesHeaders, sendBytes } from '../http/send-bytes.ts'

const tag = 'Attachments'

const AttachmentParameter = Type.Object({
  id: Type.String({ pattern: `^att_${ulidPattern}$`, description: 'attachment id', 'x-error': 'attachment_not_found' }),
})

/** The routes of attachments. See `api/guide/attachments.md#uploads`. */
export const attachmentRoutes = [
  route({
    method: 'GET',
    path: '/attachments',
    operationId: 'listAttachments',
    tag,
    summary: 'List attachments',
    description: 'Newest first. `referenced=false` finds the files that no body shows.',
    extension: true,
    scopes: ['attachments:read'],
    query: Type.Object({
      ...pageParameters,
      knowledge_base_id: Type.Optional(IntegerIdFilter()),
      document_id: Type.Optional(Type.String({ pattern: documentIdPattern, description: 'that the files belong to' })),
      referenced: Type.Optional(Type.Boolean({ description: 'whether a body of the workspace shows the file' })),
    }),
    success: { status: 200, description: 'A page of attachments', data: Attachment, list: true },
    errors: ['invalid_cursor'],
    async handle({ db, caller, query, endpoint }) {
      const { knowledge_base_id: knowledgeBaseId, document_id: documentId, referenced, limit = 50, cursor } = query
      const filters = { knowledgeBaseId, documentId, referenced }
      const scope = { endpoint, filters, sort: 'created_at' }
      const after = cursor === undefined ? null : decodeCursor(scope, cursor, ['number', 'string'])
      const rows = await attachmentPage(db, { ...filters, workspaceIds: visibleWorkspaces(caller), after, limit })
      const next = (last: (typeof rows)[number]) => encodeCursor(scope, [last.created_at, last.id])
      const { data, page } = pageOf({ rows, limit, cursor, next })
      return { data: data.map(presentAttachment), page }
    },
  }),

  route({
    method: 'POST',
    path: '/attachments',
    operationId: 'createAttachment',
    tag,
    summary: 'Upload a file to a document',
    description:
      'A multipart/form-data body of at most 20 MiB unless the operator has set another limit. The type is that of the part; images, PDF and archives have to begin like one, texts have to be UTF-8. To show an image, put a node `image` with its `attachmentId` into a body.',
    scopes: ['attachments:write'],
    multipart: { file: 'file' },
    body: Type.Object({ document_id: Text({ min: 1 }) }),
    success: { status: 201, description: 'The new attachment', data: Attachment, location: true },
    errors: ['document_not_found', 'quota_exceeded', 'attachment_too_large', 'unsupported_media_type'],
    async handle({ tx, service, caller, body, file }) {
      if (file === null) throw new Error('a form without its file gets no further than its reader')
      const attachment = await createAttachment(
        { tx, config: service.config },
        { caller, documentId: body.document_id, file },
      )
      const data = presentAttachment(attachment)
      return { data, location: data.url, workspaceId: attachment.workspace_id, documentIds: [data.document_id] }
    },
  }),

  route({
    method: 'GET',
    path: '/attachments/{id}',
    operationId: 'getAttachment',
    tag,
    summary: 'Download the bytes of an attachment',
    description:
      'Always `application/octet-stream` to be saved under its name, never shown by a browser. Ranges are not served.',
    scopes: ['attachments:read'],
    params: AttachmentParameter,
    conditional: true,
    success: { status: 200, description: 'The bytes', data: null, media: 'application/octet-stream', etag: true },
    errors: ['attachment_not_found'],
    async handle({ db, service, caller, params }) {
      const attachment = await requireAttachment(db, { id: params.id, caller })
      return {
        etag: `sha256:${attachment.sha256}`,
        headers: bytesHeaders(attachment),
        write: (response) => sendBytes(service.files, { attachment, response }),
      }
    },
  }),

  route({
    method: 'GET',
    path: '/attachments/{id}/metadata',
    operationId: 'getAttachmentMetadata',
    tag,
    summary: 'Read what is known about an attachment',
    scopes: ['attachments:read'],
    params: AttachmentParameter,
    success: { status: 200, description: 'The attachment', data: Attachment },
    errors: ['attachment_not_found'],
    async handle({ db, caller, params }) {
      return { data: presentAttachment(await requireAttachment(db, { id: params.id, caller })) }
    },
  }),

  route({
    method: 'DELETE',
    path: '/attachments/{id}',
    operationId: 'deleteAttachment',
    tag,
    summary: 'Delete an attachment',
    description:
      'Refused while a body of the workspace shows it; with `force` its images are taken out of every such body, each of which keeps a snapshot. Snapshots go on naming it.',
    scopes: ['attachments:write', 'documents:write'],
    params: AttachmentParameter,
    query: Type.Object({
      force: Type.Optional(Type.Boolean({ default: false, description: 'also takes its images out of bodies' })),
    }),
    success: { status: 204, description: 'Deleted', data: null },
    errors: ['attachment_not_found', 'attachment_referenced'],
    async handle({ write, caller, params, query }) {
      return deleteAttachment(write, { id: params.id, caller, force: query.force ?? false })
    },
  }),
]
