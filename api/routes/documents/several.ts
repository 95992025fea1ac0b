import {
  DocumentsDeleteInput,
  DocumentsMoved,
  DocumentsMoveInput,
  mostNamedDocuments,
} from '../../../shared/documents/schema.ts'
import { deleteSeveral, moveDocuments } from '../../../shared/documents/several.ts'
import { DocumentsRead, DocumentsReadInput } from '../../../shared/reading/schema.ts'
import { route, safePost } from '../../http/route.ts'
import { readSeveral } from './read-several.ts'

/** The routes about several documents at once. See `api/guide/documents.md#several-documents`. */
export const severalRoutes = [
  safePost({
    path: '/documents/read',
    operationId: 'readDocuments',
    tag: 'Content',
    summary: `Read up to ${mostNamedDocuments} documents within one budget of tokens`,
    description:
      'Items come in the order of `ids`. An item is like the answer of `GET /documents/{id}/read`, with the freshness of what is derived from the document. A document that does not exist has an item with an `error`. The `next_cursor` of a cut item continues at `GET /documents/{id}/read` with the same `view` and the `max_tokens` of the item.',
    extension: true,
    scopes: ['documents:read'],
    body: DocumentsReadInput,
    success: { status: 200, description: 'An item for each document', data: DocumentsRead },
    errors: [],
    handle({ db, caller, body }) {
      const { ids, view = 'markdown', max_tokens: maxTokens } = body
      return readSeveral(db, { caller, ids, view, maxTokens })
    },
  }),

  route({
    method: 'POST',
    path: '/documents/move',
    operationId: 'moveDocuments',
    tag: 'Documents',
    summary: `Move up to ${mostNamedDocuments} documents, all or none`,
    description:
      'To a folder, or to the root of a knowledge base. If a document does not exist, nothing moves and `details.ids` names it.',
    extension: true,
    scopes: ['documents:write'],
    body: DocumentsMoveInput,
    success: { status: 200, description: 'The moved documents', data: DocumentsMoved },
    errors: [
      'knowledge_base_not_found',
      'folder_not_found',
      'folder_knowledge_base_mismatch',
      'cross_workspace_move',
      'documents_unavailable',
    ],
    async handle({ write, body }) {
      const { ids, ...to } = body
      const { workspaceId } = await moveDocuments(write, { documentIds: ids, to })
      const moved = [...new Set(ids)]
      return { data: { ids: moved }, workspaceId, documentIds: moved }
    },
  }),

  route({
    method: 'POST',
    path: '/documents/delete',
    operationId: 'deleteDocuments',
    tag: 'Documents',
    summary: `Delete up to ${mostNamedDocuments} documents, all or none`,
    description:
      'Each document is deleted as by `DELETE /documents/{id}`. If a document does not exist, nothing is deleted and `details.ids` names it.',
    extension: true,
    scopes: ['documents:write'],
    body: DocumentsDeleteInput,
    success: { status: 204, description: 'Deleted', data: null },
    errors: ['documents_unavailable'],
    async handle({ write, body }) {
      const [workspaceId, ...others] = await deleteSeveral(write, { documentIds: body.ids })
      const documentIds = [...new Set(body.ids)]
      return workspaceId === undefined || others.length > 0 ? { documentIds } : { workspaceId, documentIds }
    },
  }),
]
