import Type from 'typebox'
import { documentIdPattern, ulidPattern } from '../../shared/schema/ids.ts'

/** Path parameter: a knowledge base. */
export const KnowledgeBaseParameter = Type.Object({
  id: Type.Integer({ minimum: 1, description: 'knowledge base id', 'x-error': 'knowledge_base_not_found' }),
})

/** Path parameter: a folder. */
export const FolderParameter = Type.Object({
  id: Type.Integer({ minimum: 1, description: 'folder id', 'x-error': 'folder_not_found' }),
})

/** Path parameter: a document. */
export const DocumentParameter = Type.Object({
  id: Type.String({ pattern: documentIdPattern, description: 'document id', 'x-error': 'document_not_found' }),
})

/** Path parameter: a document set. */
export const DocumentSetParameter = Type.Object({
  id: Type.String({
    pattern: `^docset_${ulidPattern}$`,
    description: 'document set id',
    'x-error': 'document_set_not_found',
  }),
})

/** Query parameters of a list that is paged by default. */
export const pageParameters = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 50 })),
  cursor: Type.Optional(Type.String({ description: 'next_cursor of the page before' })),
}

/** Query parameters of a list that comes whole when `limit` is absent, with up to `wholeListLimit` items. */
export const wholeListParameters = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: 'page size; absent = the whole list' })),
  cursor: pageParameters.cursor,
}

/** The most items of a list without `limit`; a longer list has `has_more`. */
export const wholeListLimit = 1000
