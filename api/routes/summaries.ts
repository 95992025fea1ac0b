import type { TObject } from 'typebox'
import Type from 'typebox'
import type { Scope } from '../../shared/auth/scopes.ts'
import type { ErrorCode } from '../../shared/errors/errors.ts'
import { blockIdPattern } from '../../shared/schema/ids.ts'
import type { TargetRequest } from '../../shared/summaries/find.ts'
import { DocumentParameter, FolderParameter, KnowledgeBaseParameter } from '../http/parameters.ts'

/** One of the three kinds of resources that have a summary, with what its endpoints differ in. */
export type SummaryTargetKind = {
  path: string
  /** In operation ids, such as `getFolderSummary`. */
  noun: string
  /** In sentences. */
  name: string
  params: TObject
  /** Query parameters that name a part of the resource. */
  query: TObject['properties']
  read: Scope
  write: Scope
  errors: readonly ErrorCode[]
  /** The target of a call, whose members are valid already. */
  request: (call: { params: unknown; query: unknown }) => TargetRequest
}

const idOf = (params: unknown) => (params as { id: number }).id

/** Documents with their sections, folders and knowledge bases (decisions C 24-32). */
export const summaryTargetKinds: readonly SummaryTargetKind[] = [
  {
    path: '/documents/{id}/summary',
    noun: 'Document',
    name: 'a document, or with `block_id` of the section under that heading',
    params: DocumentParameter,
    query: {
      block_id: Type.Optional(Type.String({ pattern: blockIdPattern, description: 'a top-level heading' })),
    },
    read: 'documents:read',
    write: 'documents:write',
    errors: ['document_not_found', 'block_not_found', 'not_a_heading_block'],
    request({ params, query }) {
      const { block_id: blockId } = query as { block_id?: string }
      return { type: 'document', id: (params as { id: string }).id, blockId }
    },
  },
  {
    path: '/folders/{id}/summary',
    noun: 'Folder',
    name: 'a folder',
    params: FolderParameter,
    query: {},
    read: 'knowledge-bases:read',
    write: 'knowledge-bases:write',
    errors: ['folder_not_found'],
    request: ({ params }) => ({ type: 'folder', id: idOf(params) }),
  },
  {
    path: '/knowledge-bases/{id}/summary',
    noun: 'KnowledgeBase',
    name: 'a knowledge base',
    params: KnowledgeBaseParameter,
    query: {},
    read: 'knowledge-bases:read',
    write: 'knowledge-bases:write',
    errors: ['knowledge_base_not_found'],
    request: ({ params }) => ({ type: 'knowledge_base', id: idOf(params) }),
  },
]
