import { presentDocument } from '../../../shared/documents/present.ts'
import { Document } from '../../../shared/documents/schema.ts'
import { duplicateDocument } from '../../../shared/duplicates/duplicate.ts'
import { DuplicateInput } from '../../../shared/duplicates/schema.ts'
import { DocumentParameter } from '../../http/parameters.ts'
import { apiPrefix, route } from '../../http/route.ts'

/** The route that duplicates a document. See `api/guide/documents.md#duplicates`. */
export const duplicateRoutes = [
  route({
    method: 'POST',
    path: '/documents/{id}/duplicate',
    operationId: 'duplicateDocument',
    tag: 'Documents',
    summary: 'Duplicate a document',
    description:
      'The new document has the stored body under new block ids, copies of the files that the body names, and the metadata. History, document set and public link stay with the original.',
    extension: true,
    scopes: ['documents:write'],
    params: DocumentParameter,
    body: DuplicateInput,
    success: { status: 201, description: 'The duplicate', data: Document, location: true },
    errors: [
      'document_not_found',
      'knowledge_base_not_found',
      'folder_not_found',
      'folder_knowledge_base_mismatch',
      'cross_workspace_move',
      'quota_exceeded',
      'document_too_large',
    ],
    async handle({ write, service, caller, params, body }) {
      const { title, ...to } = body
      const { database, files } = service
      const request = { documentId: params.id, caller, title, to }
      const duplicate = await duplicateDocument({ ...write, database, files }, request)
      return {
        data: presentDocument(duplicate, 'current'),
        location: `${apiPrefix}/documents/${duplicate.id}`,
        workspaceId: duplicate.workspace_id,
        documentIds: [duplicate.id, params.id],
      }
    },
  }),
]
