import Type from 'typebox'
import { bodyLimits } from '../../../shared/body/body-limits.ts'
import { writeContent } from '../../../shared/body/content.ts'
import { createDocument } from '../../../shared/body/create-document.ts'
import { answerWarnings } from '../../../shared/body/document.ts'
import { ContentInput, ContentWarning } from '../../../shared/body/schema.ts'
import { deleteDocument } from '../../../shared/documents/deletion.ts'
import { documentPage } from '../../../shared/documents/list.ts'
import { documentPath, presentDocument } from '../../../shared/documents/present.ts'
import { requireDocument } from '../../../shared/documents/require.ts'
import {
  Document,
  DocumentPath,
  DocumentUpdateInput,
  documentCreateMembers,
  ResolvedDocument,
} from '../../../shared/documents/schema.ts'
import { updateDocument } from '../../../shared/documents/update.ts'
import { presentDocuments, presentOne } from '../../../shared/localization/present.ts'
import { encodeCursor, pageOf } from '../../http/pagination.ts'
import { DocumentParameter } from '../../http/parameters.ts'
import { apiPrefix, route } from '../../http/route.ts'
import { contentErrors } from '../body/body-errors.ts'
import { requireBodyVersion } from '../body/body-guard.ts'
import { localeParameter, requireVariant } from '../body/stored-body.ts'
import { documentFilter, documentListParameters } from './document-list.ts'

const tag = 'Documents'

// `shared/body/` imports `shared/documents/`, and the reverse is not allowed. So this route joins the schemas of a
// document and of its content.
const DocumentCreateInput = Type.Object(
  { ...documentCreateMembers, content: Type.Optional(ContentInput) },
  { $id: 'DocumentCreateInput' },
)

const CreatedDocument = Type.Object(
  { ...Document.properties, warnings: Type.Array(ContentWarning) },
  { $id: 'CreatedDocument' },
)

/** The routes of documents, without the routes of their bodies. */
export const documentRoutes = [
  route({
    method: 'GET',
    path: '/documents',
    operationId: 'listDocuments',
    tag,
    summary: 'List documents',
    description: 'Ordinary documents and source-language versions, by id, or newest first with `sort=updated_at`.',
    scopes: ['documents:read'],
    query: documentListParameters,
    success: { status: 200, description: 'A page of documents', data: Document, list: true },
    errors: ['invalid_cursor', 'cursor_sort_mismatch', 'invalid_locale'],
    async handle({ db, caller, query, endpoint }) {
      const { filter, scope } = documentFilter({ query, caller, endpoint })
      const rows = await documentPage(db, filter)
      const next = (last: (typeof rows)[number]) =>
        encodeCursor(scope, filter.sort === 'id' ? [last.id] : [last.updated_at, last.id])
      const { data, page } = pageOf({ rows, limit: filter.limit, cursor: query.cursor, next })
      return { data: await presentDocuments(db, data), page }
    },
  }),

  route({
    method: 'POST',
    path: '/documents',
    operationId: 'createDocument',
    tag,
    summary: 'Create a document',
    description:
      'Only `title` is required: without a location it goes to the first knowledge base of the default workspace.',
    scopes: ['documents:write'],
    body: DocumentCreateInput,
    success: { status: 201, description: 'The new document', data: CreatedDocument, etag: true, location: true },
    errors: [
      'knowledge_base_not_found',
      'folder_not_found',
      'workspace_not_found',
      'folder_knowledge_base_mismatch',
      'document_id_conflict',
      'quota_exceeded',
      ...contentErrors,
    ],
    async handle({ write, service, caller, body, ahead }) {
      const { content: input, ...document } = body
      const limits = bodyLimits(service.config)
      const created = await createDocument(write, {
        caller,
        document,
        content: () => input && writeContent(ahead, { input, stored: null, path: '/content', ...limits }),
      })
      return {
        data: { ...presentDocument(created.document, 'current'), warnings: answerWarnings(created.warnings) },
        etag: created.document.version,
        location: `${apiPrefix}/documents/${created.document.id}`,
        workspaceId: created.document.workspace_id,
        documentIds: [created.document.id],
      }
    },
  }),

  route({
    method: 'GET',
    path: '/documents/{id}',
    operationId: 'getDocument',
    tag,
    summary: 'Read the metadata of a document',
    scopes: ['documents:read'],
    params: DocumentParameter,
    query: Type.Object({ locale: localeParameter }),
    success: { status: 200, description: 'The document', data: ResolvedDocument },
    errors: ['document_not_found', 'invalid_locale'],
    async handle(call) {
      const { document, resolution } = await requireVariant(call)
      return { data: { ...(await presentOne(call.db, document)), ...resolution } }
    },
  }),

  route({
    method: 'PATCH',
    path: '/documents/{id}',
    operationId: 'updateDocument',
    tag,
    summary: 'Change or move a document',
    description:
      'Absent members stay. A knowledge base alone means its root. The title of a translation has at most 200 characters. If-Match is compared with the version of the body. An extension: `position` puts the document at a place in the manual order of its siblings.',
    scopes: ['documents:write'],
    params: DocumentParameter,
    body: DocumentUpdateInput,
    guard: 'optional',
    success: { status: 200, description: 'The document', data: Document },
    errors: [
      'document_not_found',
      'knowledge_base_not_found',
      'folder_not_found',
      'folder_knowledge_base_mismatch',
      'cross_workspace_move',
      'version_conflict',
      'invalid_position',
    ],
    async handle(call) {
      const { tx, write, caller, params, body } = call
      const change = { documentId: params.id, caller, metadata: body, guard: requireBodyVersion(call) }
      const document = await updateDocument(write, change)
      return { data: await presentOne(tx, document) }
    },
  }),

  route({
    method: 'DELETE',
    path: '/documents/{id}',
    operationId: 'deleteDocument',
    tag,
    summary: 'Delete a document with its body, versions and attachments',
    scopes: ['documents:write'],
    params: DocumentParameter,
    guard: 'optional',
    success: { status: 204, description: 'Deleted', data: null },
    errors: ['document_not_found', 'version_conflict'],
    async handle(call) {
      await deleteDocument(call.write, { documentId: call.params.id, guard: requireBodyVersion(call) })
      return {}
    },
  }),

  route({
    method: 'GET',
    path: '/documents/{id}/path',
    operationId: 'getDocumentPath',
    tag,
    summary: 'Read the path of a document',
    scopes: ['documents:read'],
    params: DocumentParameter,
    success: { status: 200, description: 'Knowledge base, folders and document', data: DocumentPath },
    errors: ['document_not_found'],
    async handle({ db, caller, params }) {
      const document = await requireDocument(db, { caller, documentId: params.id })
      return { data: await documentPath(db, document) }
    },
  }),
]
