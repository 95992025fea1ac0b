import Type from 'typebox'
import { defaultWorkspace, requireWriter, visibleWorkspaces } from '../../../shared/auth/caller.ts'
import {
  createKnowledgeBase,
  findKnowledgeBase,
  findWritableKnowledgeBase,
  renameKnowledgeBase,
  requireConfirmation,
} from '../../../shared/knowledge-bases/lifecycle.ts'
import { SortOrder } from '../../../shared/knowledge-bases/order.ts'
import { knowledgeBasePage } from '../../../shared/knowledge-bases/queries.ts'
import { ConfirmInput, ConfirmQuery, KnowledgeBase, NameInput } from '../../../shared/knowledge-bases/schema.ts'
import { nest, nodesOfKnowledgeBase, treeText } from '../../../shared/knowledge-bases/tree.ts'
import { deleteKnowledgeBase } from '../../../shared/structure/deletion.ts'
import { summariseTree, Tree } from '../../../shared/summaries/tree.ts'
import { type CursorScope, decodeCursor, encodeCursor, pageOf } from '../../http/pagination.ts'
import { KnowledgeBaseParameter, pageParameters } from '../../http/parameters.ts'
import { apiPrefix, type Route, route } from '../../http/route.ts'

const tag = 'Knowledge bases'

/** The routes of knowledge bases and their trees. */
export const knowledgeBaseRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/knowledge-bases',
    operationId: 'listKnowledgeBases',
    tag,
    summary: 'Knowledge bases of every workspace you can see, by id',
    scopes: ['knowledge-bases:read'],
    query: Type.Object(pageParameters),
    success: { status: 200, description: 'A page of knowledge bases', data: KnowledgeBase, list: true },
    errors: ['invalid_cursor'],
    handle: async ({ caller, db, endpoint, query: { limit = 50, cursor } }) => {
      const scope: CursorScope = { endpoint, filters: {}, sort: 'id' }
      const [after = 0] = cursor === undefined ? [] : decodeCursor(scope, cursor, ['number'])
      const workspaceIds = visibleWorkspaces(caller)
      const rows = await knowledgeBasePage(db, { workspaceIds, after: Number(after), limit })
      return pageOf({ rows, limit, cursor, next: ({ id }) => encodeCursor(scope, [id]) })
    },
  }),
  route({
    method: 'POST',
    path: '/knowledge-bases',
    operationId: 'createKnowledgeBase',
    tag,
    summary: 'Create a knowledge base in the default workspace',
    scopes: ['knowledge-bases:write'],
    body: NameInput,
    success: { status: 201, description: 'The knowledge base', data: KnowledgeBase, location: true },
    errors: ['workspace_not_found', 'quota_exceeded'],
    handle: async ({ caller, tx, service, body }) => {
      const workspaceId = defaultWorkspace(caller).workspace_id
      requireWriter(caller, workspaceId)
      const created = await createKnowledgeBase(
        { tx, config: service.config },
        { workspaceId, name: body.name, createdBy: caller.userId },
      )
      return { data: created, location: `${apiPrefix}/knowledge-bases/${created.id}`, workspaceId }
    },
  }),
  route({
    method: 'GET',
    path: '/knowledge-bases/{id}',
    operationId: 'getKnowledgeBase',
    tag,
    summary: 'A knowledge base',
    scopes: ['knowledge-bases:read'],
    params: KnowledgeBaseParameter,
    success: { status: 200, description: 'The knowledge base', data: KnowledgeBase },
    errors: [],
    handle: async ({ caller, db, params }) => ({ data: await findKnowledgeBase(db, { caller, id: params.id }) }),
  }),
  route({
    method: 'PATCH',
    path: '/knowledge-bases/{id}',
    operationId: 'renameKnowledgeBase',
    tag,
    summary: 'Rename a knowledge base',
    scopes: ['knowledge-bases:write'],
    params: KnowledgeBaseParameter,
    body: NameInput,
    success: { status: 200, description: 'The knowledge base', data: KnowledgeBase },
    errors: [],
    handle: async ({ caller, tx, params, body }) => {
      const key = await findWritableKnowledgeBase(tx, { caller, id: params.id })
      return { data: await renameKnowledgeBase(tx, { ...key, name: body.name }) }
    },
  }),
  route({
    method: 'DELETE',
    path: '/knowledge-bases/{id}',
    operationId: 'deleteKnowledgeBase',
    tag,
    summary: 'Delete a knowledge base with all its contents',
    description:
      '`confirm_id` repeats the id, in the body or, for clients that drop the body of a DELETE, in the query.',
    scopes: ['knowledge-bases:write'],
    params: KnowledgeBaseParameter,
    query: ConfirmQuery,
    body: ConfirmInput,
    success: { status: 204, description: 'Deleted', data: null },
    errors: ['confirm_id_mismatch'],
    handle: async (call) => {
      const { caller, tx, params, query, body } = call
      requireConfirmation(params.id, [body.confirm_id, query.confirm_id])
      const key = await findWritableKnowledgeBase(tx, { caller, id: params.id })
      await deleteKnowledgeBase(call.write, key)
      return {}
    },
  }),
  route({
    method: 'GET',
    path: '/knowledge-bases/{id}/tree',
    operationId: 'getTree',
    tag: 'Knowledge bases',
    summary: 'All folders and documents of a knowledge base',
    description: 'Folders first by name, then documents by title. An extension: `sort` names another order.',
    scopes: ['knowledge-bases:read'],
    params: KnowledgeBaseParameter,
    query: Type.Object({
      include_summary: Type.Optional(
        Type.Boolean({ default: false, description: 'adds the summary of the knowledge base and of everything in it' }),
      ),
      sort: Type.Optional(SortOrder),
    }),
    success: { status: 200, description: 'The tree', data: Tree },
    errors: [],
    async handle({ caller, db, params, query }) {
      const knowledgeBase = await findKnowledgeBase(db, { caller, id: params.id })
      const { sort = 'name' } = query
      const key = { workspaceId: knowledgeBase.workspace_id, id: params.id, sort }
      if (!query.include_summary) {
        return {
          dataText: `{"knowledge_base":${JSON.stringify(knowledgeBase)},"children":${await treeText(db, key)}}`,
        }
      }
      const children = nest(await nodesOfKnowledgeBase(db, key))
      return { dataText: await summariseTree(db, { knowledge_base: knowledgeBase, children }) }
    },
  }),
]
