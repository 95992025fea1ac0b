import Type from 'typebox'
import {
  deleteTag,
  KnowledgeBaseTag,
  presentTag,
  renameTag,
  TagUpdateInput,
  tagPage,
} from '../../../shared/documents/tags.ts'
import { findKnowledgeBase, findWritableKnowledgeBase } from '../../../shared/knowledge-bases/lifecycle.ts'
import { isStorable } from '../../../shared/schema/strings.ts'
import { type CursorScope, decodeCursor, encodeCursor, pageOf } from '../../http/pagination.ts'
import { KnowledgeBaseParameter, wholeListLimit, wholeListParameters } from '../../http/parameters.ts'
import { type Route, route } from '../../http/route.ts'

const tag = 'Knowledge bases'

const TagParameters = Type.Object({
  ...KnowledgeBaseParameter.properties,
  tag: Type.Refine(
    Type.String({ description: 'the tag, in any case', 'x-error': 'tag_not_found' }),
    (value) => typeof value === 'string' && isStorable(value),
    () => 'must be without U+0000 or lone surrogates',
  ),
})

/** The tags of a knowledge base. See `api/guide/documents.md#tags-of-a-knowledge-base`. */
export const tagRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/knowledge-bases/{id}/tags',
    operationId: 'listTags',
    tag,
    summary: 'Tags of the documents of a knowledge base, with counts',
    description: 'In alphabetical order without case. Translations count as documents.',
    extension: true,
    scopes: ['documents:read', 'knowledge-bases:read'],
    params: KnowledgeBaseParameter,
    query: Type.Object(wholeListParameters),
    success: { status: 200, description: 'A page of tags', data: KnowledgeBaseTag, list: true },
    errors: ['invalid_cursor'],
    handle: async ({ caller, db, params, endpoint, query: { limit = wholeListLimit, cursor } }) => {
      const scope: CursorScope = { endpoint, filters: { id: params.id }, sort: 'tag' }
      const [after = ''] = cursor === undefined ? [] : decodeCursor(scope, cursor, ['string'])
      const { workspace_id: workspaceId, id } = await findKnowledgeBase(db, { caller, id: params.id })
      const rows = await tagPage(db, { workspaceId, id, after: String(after), limit })
      const { data, page } = pageOf({ rows, limit, cursor, next: (last) => encodeCursor(scope, [last.tag]) })
      return { data: data.map(presentTag), page }
    },
  }),
  route({
    method: 'PATCH',
    path: '/knowledge-bases/{id}/tags/{tag}',
    operationId: 'renameTag',
    tag,
    summary: 'Rename a tag in all documents of a knowledge base, or merge it with another tag',
    description:
      'All documents change in one transaction, each with the event `document.metadata.updated`. A tag that exists keeps its spelling, and both become one. A name that differs only in case respells the tag.',
    extension: true,
    scopes: ['documents:write'],
    params: TagParameters,
    body: TagUpdateInput,
    success: { status: 200, description: 'The tag that the documents have now', data: KnowledgeBaseTag },
    errors: ['knowledge_base_not_found', 'tag_not_found'],
    handle: async ({ caller, tx, params, body }) => {
      const base = await findWritableKnowledgeBase(tx, { caller, id: params.id })
      return { data: await renameTag({ tx, caller }, { base, tag: params.tag, name: body.tag }) }
    },
  }),
  route({
    method: 'DELETE',
    path: '/knowledge-bases/{id}/tags/{tag}',
    operationId: 'deleteTag',
    tag,
    summary: 'Remove a tag from all documents of a knowledge base',
    description: 'All documents change in one transaction, each with the event `document.metadata.updated`.',
    extension: true,
    scopes: ['documents:write'],
    params: TagParameters,
    success: { status: 204, description: 'Removed', data: null },
    errors: ['knowledge_base_not_found', 'tag_not_found'],
    handle: async ({ caller, tx, params }) => {
      const base = await findWritableKnowledgeBase(tx, { caller, id: params.id })
      await deleteTag({ tx, caller }, { base, tag: params.tag })
      return {}
    },
  }),
]
