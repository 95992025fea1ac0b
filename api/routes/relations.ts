import Type from 'typebox'
import { visibleWorkspaces } from '../../shared/auth/caller.ts'
import { requireDocument } from '../../shared/documents/require.ts'
import { listRelations, readRelation } from '../../shared/relations/list.ts'
import {
  DocumentRelation,
  Predicate,
  RelationCreateInput,
  RelationType,
  relationTypes,
} from '../../shared/relations/schema.ts'
import { createRelation, deleteRelation } from '../../shared/relations/write.ts'
import { ulidPattern } from '../../shared/schema/ids.ts'
import { decodeCursor, encodeCursor, pageOf } from '../http/pagination.ts'
import { DocumentParameter, wholeListLimit, wholeListParameters } from '../http/parameters.ts'
import { apiPrefix, route } from '../http/route.ts'

const tag = 'Relations'

const RelationParameter = Type.Object({
  id: Type.String({ pattern: `^rel_${ulidPattern}$`, description: 'relation id', 'x-error': 'relation_not_found' }),
})

/** The routes of relations between documents and blocks. */
export const relationRoutes = [
  route({
    method: 'GET',
    path: '/relation-types',
    operationId: 'listRelationTypes',
    tag,
    summary: 'List the registered predicates',
    scopes: ['documents:read'],
    query: Type.Object(wholeListParameters),
    success: { status: 200, description: 'The predicates', data: RelationType, list: true },
    errors: ['invalid_cursor'],
    async handle({ query, endpoint }) {
      const { limit = wholeListLimit, cursor } = query
      const scope = { endpoint, filters: {}, sort: 'position' }
      const start = cursor === undefined ? 0 : Number(decodeCursor(scope, cursor, ['number'])[0])
      const rows = relationTypes.slice(start, start + limit + 1)
      return pageOf({ rows, limit, cursor, next: () => encodeCursor(scope, [start + limit]) })
    },
  }),

  route({
    method: 'POST',
    path: '/relations',
    operationId: 'createRelation',
    tag,
    summary: 'Relate a block to a document or block',
    description: 'Both ends must exist. It needs the right to write the source and to read the target.',
    scopes: ['documents:write'],
    body: RelationCreateInput,
    success: { status: 201, description: 'The new relation', data: DocumentRelation, location: true },
    errors: ['document_not_found', 'block_not_found', 'relation_exists', 'self_relation'],
    async handle({ tx, caller, body }) {
      const { workspaceId, id } = await createRelation(tx, { caller, relation: body })
      const data = await readRelation(tx, { id, workspaceIds: visibleWorkspaces(caller) })
      const documentIds = [body.source_document_id]
      return { data, location: `${apiPrefix}/relations/${id}`, workspaceId, documentIds }
    },
  }),

  route({
    method: 'DELETE',
    path: '/relations/{id}',
    operationId: 'deleteRelation',
    tag,
    summary: 'Delete a relation that was written by hand',
    description: 'An inline relation goes when its link is removed from the body.',
    scopes: ['documents:write'],
    params: RelationParameter,
    success: { status: 204, description: 'Deleted', data: null },
    errors: ['relation_not_found', 'inline_relation'],
    async handle({ tx, caller, params }) {
      const relation = await deleteRelation(tx, { id: params.id, caller })
      return { workspaceId: relation.workspace_id, documentIds: [relation.source_document_id] }
    },
  }),

  route({
    method: 'GET',
    path: '/documents/{id}/relations',
    operationId: 'listRelations',
    tag,
    summary: 'List the relations of a document',
    description:
      'Oldest first. `status` tells which end is missing now, `evidence_freshness` whether the source has been written since, `projection_freshness` whether the links of the source are read up to its current body.',
    scopes: ['documents:read'],
    params: DocumentParameter,
    query: Type.Object({
      ...wholeListParameters,
      direction: Type.Optional(Type.Enum(['outgoing', 'incoming', 'both'], { default: 'both' })),
      predicate: Type.Optional(Predicate),
    }),
    success: { status: 200, description: 'Relations', data: DocumentRelation, list: true },
    errors: ['document_not_found', 'invalid_cursor'],
    async handle(call) {
      const document = await requireDocument(call.db, { caller: call.caller, documentId: call.params.id })
      const { limit = wholeListLimit, cursor, direction = 'both', predicate } = call.query
      const scope = { endpoint: call.endpoint, filters: { id: document.id, direction, predicate }, sort: 'created_at' }
      const [createdAt, id] = cursor === undefined ? [] : decodeCursor(scope, cursor, ['number', 'string'])
      const after = cursor === undefined ? null : { createdAt: Number(createdAt), id: String(id) }
      const workspaceIds = visibleWorkspaces(call.caller)
      const rows = await listRelations(call.db, { document, workspaceIds, direction, predicate, after, limit })
      return pageOf({ rows, limit, cursor, next: (last) => encodeCursor(scope, [last.created_at, last.id]) })
    },
  }),
]
