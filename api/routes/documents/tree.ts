import Type from 'typebox'
import { findKnowledgeBase } from '../../../shared/knowledge-bases/lifecycle.ts'
import { nest } from '../../../shared/knowledge-bases/tree/tree.ts'
import { nodesOfKnowledgeBase } from '../../../shared/knowledge-bases/tree.ts'
import { Tree } from '../../../shared/summaries/tree/schema.ts'
import { summariseTree } from '../../../shared/summaries/tree/summarise.ts'
import { KnowledgeBaseParameter } from '../../http/parameters.ts'
import { route } from '../../http/route.ts'

/** `GET /knowledge-bases/{id}/tree` (specification 4.7). */
export const getTree = route({
  method: 'GET',
  path: '/knowledge-bases/{id}/tree',
  operationId: 'getTree',
  tag: 'Knowledge bases',
  summary: 'All folders and documents of a knowledge base',
  scopes: ['knowledge-bases:read'],
  params: KnowledgeBaseParameter,
  query: Type.Object({
    include_summary: Type.Optional(
      Type.Boolean({ default: false, description: 'adds the summary of the knowledge base and of everything in it' }),
    ),
  }),
  success: { status: 200, description: 'The tree', data: Tree },
  errors: [],
  async handle({ caller, db, params, query }) {
    const knowledgeBase = await findKnowledgeBase(db, { caller, id: params.id })
    const rows = await nodesOfKnowledgeBase(db, { workspaceId: knowledgeBase.workspace_id, id: params.id })
    const tree = { knowledge_base: knowledgeBase, children: nest(rows) }
    return { data: query.include_summary ? await summariseTree(db, tree) : tree }
  },
})
