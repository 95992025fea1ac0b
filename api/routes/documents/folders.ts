import Type from 'typebox'
import { childPage } from '../../../shared/knowledge-bases/children.ts'
import { findFolder, findWritableFolder, presentFolder } from '../../../shared/knowledge-bases/folders.ts'
import { SortOrder } from '../../../shared/knowledge-bases/order.ts'
import { ChildNode, Folder, FolderCreateInput, FolderUpdateInput } from '../../../shared/knowledge-bases/schema.ts'
import { presentNode } from '../../../shared/knowledge-bases/tree.ts'
import { deleteFolder } from '../../../shared/structure/deletion.ts'
import { createFolder, updateFolder } from '../../../shared/structure/folders.ts'
import { childCursors } from '../../http/child-cursors.ts'
import { pageOf } from '../../http/pagination.ts'
import { FolderParameter, wholeListLimit, wholeListParameters } from '../../http/parameters.ts'
import { apiPrefix, type Route, route } from '../../http/route.ts'

const tag = 'Folders'

/** The routes of folders and their children. */
export const folderRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/folders',
    operationId: 'createFolder',
    tag,
    summary: 'Create a folder',
    scopes: ['knowledge-bases:write'],
    body: FolderCreateInput,
    success: { status: 201, description: 'The folder', data: Folder, location: true },
    errors: ['folder_knowledge_base_mismatch', 'knowledge_base_not_found', 'folder_not_found', 'quota_exceeded'],
    handle: async ({ caller, tx, service, body }) => {
      const folder = await createFolder({ tx, config: service.config, caller }, body)
      const location = `${apiPrefix}/folders/${folder.id}`
      return { data: presentFolder(folder), location, workspaceId: folder.workspace_id }
    },
  }),
  route({
    method: 'GET',
    path: '/folders/{id}',
    operationId: 'getFolder',
    tag,
    summary: 'A folder',
    scopes: ['knowledge-bases:read'],
    params: FolderParameter,
    success: { status: 200, description: 'The folder', data: Folder },
    errors: [],
    handle: async ({ caller, db, params }) => ({
      data: presentFolder(await findFolder(db, { caller, id: params.id })),
    }),
  }),
  route({
    method: 'PATCH',
    path: '/folders/{id}',
    operationId: 'updateFolder',
    tag,
    summary: 'Rename or move a folder with everything in it',
    description: 'An extension: `position` puts the folder at a place in the manual order of its siblings.',
    scopes: ['knowledge-bases:write'],
    params: FolderParameter,
    body: FolderUpdateInput,
    success: { status: 200, description: 'The folder', data: Folder },
    errors: [
      'cross_workspace_move',
      'folder_knowledge_base_mismatch',
      'knowledge_base_not_found',
      'document_not_found',
      'folder_cycle',
      'invalid_position',
    ],
    handle: async ({ write, params, body }) => {
      const folder = await updateFolder(write, { id: params.id, update: body })
      return { data: presentFolder(folder) }
    },
  }),
  route({
    method: 'DELETE',
    path: '/folders/{id}',
    operationId: 'deleteFolder',
    tag,
    summary: 'Delete a folder with its subfolders and documents',
    scopes: ['knowledge-bases:write'],
    params: FolderParameter,
    success: { status: 204, description: 'Deleted', data: null },
    errors: [],
    handle: async (call) => {
      const { caller, tx, params } = call
      await deleteFolder(call.write, await findWritableFolder(tx, { caller, id: params.id }))
      return {}
    },
  }),
  route({
    method: 'GET',
    path: '/folders/{id}/children',
    operationId: 'listFolderChildren',
    tag,
    summary: 'Folders and documents directly in a folder',
    description: 'Folders first by name, then documents by title. An extension: `sort` names another order.',
    scopes: ['knowledge-bases:read', 'documents:read'],
    params: FolderParameter,
    query: Type.Object({ ...wholeListParameters, sort: Type.Optional(SortOrder) }),
    success: { status: 200, description: 'A page of children', data: ChildNode, list: true },
    errors: ['invalid_cursor', 'cursor_sort_mismatch'],
    handle: async ({ caller, db, params, endpoint, query: { limit = wholeListLimit, cursor, sort = 'name' } }) => {
      const cursors = childCursors({ endpoint, filters: { folder_id: params.id }, sort })
      const after = cursors.read(cursor)
      const folder = await findFolder(db, { caller, id: params.id })
      const { workspace_id: workspaceId, knowledge_base_id: knowledgeBaseId, id: folderId } = folder
      const rows = await childPage(db, { workspaceId, knowledgeBaseId, folderId, after, limit, sort })
      const { data, page } = pageOf({ rows, limit, cursor, next: cursors.after })
      return { data: data.map(presentNode), page }
    },
  }),
]
