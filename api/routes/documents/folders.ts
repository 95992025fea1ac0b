import Type from 'typebox'
import { findFolder, findWritableFolder, presentFolder } from '../../../shared/knowledge-bases/folders.ts'
import { ChildNode, Folder, FolderCreateInput, FolderUpdateInput } from '../../../shared/knowledge-bases/schema.ts'
import {
  type ChildPosition,
  childPage,
  type NodeRow,
  positionOf,
  presentNode,
} from '../../../shared/knowledge-bases/tree.ts'
import { deleteFolder } from '../../../shared/structure/deletion.ts'
import { createFolder, updateFolder } from '../../../shared/structure/folders.ts'
import { type CursorScope, decodeCursor, encodeCursor, pageOf } from '../../http/pagination.ts'
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
    scopes: ['knowledge-bases:write'],
    params: FolderParameter,
    body: FolderUpdateInput,
    success: { status: 200, description: 'The folder', data: Folder },
    errors: ['cross_workspace_move', 'folder_knowledge_base_mismatch', 'knowledge_base_not_found', 'folder_cycle'],
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
    description: 'Folders first by name, then documents by title.',
    scopes: ['knowledge-bases:read', 'documents:read'],
    params: FolderParameter,
    query: Type.Object(wholeListParameters),
    success: { status: 200, description: 'A page of children', data: ChildNode, list: true },
    errors: ['invalid_cursor'],
    handle: async ({ caller, db, params, endpoint, query: { limit = wholeListLimit, cursor } }) => {
      const cursors = childCursors(endpoint, params.id)
      const after = cursors.read(cursor)
      const folder = await findFolder(db, { caller, id: params.id })
      const rows = await childPage(db, { workspaceId: folder.workspace_id, folderId: folder.id, after, limit })
      const { data, page } = pageOf({ rows, limit, cursor, next: cursors.after })
      return { data: data.map(presentNode), page }
    },
  }),
]

// Makes the cursors of the children of one folder. The list of another folder refuses these cursors.
function childCursors(endpoint: string, folderId: number) {
  const scope: CursorScope = { endpoint, filters: { folder_id: folderId }, sort: 'name' }
  return {
    /** Returns the cursor after a child. */
    after: (child: NodeRow): string => {
      const { rank, labelStart, folderNumber, documentId } = positionOf(child)
      return encodeCursor(scope, [rank, labelStart, folderNumber, documentId])
    },
    /**
     * Returns the position that a cursor names, or null without a cursor. Refuses a cursor of another list with 400.
     */
    read: (cursor: string | undefined): ChildPosition | null => {
      if (cursor === undefined) return null
      const [rank, labelStart, folderNumber, documentId] = decodeCursor(scope, cursor, [
        'number',
        'string',
        'number',
        'string',
      ])
      return {
        rank: Number(rank),
        labelStart: String(labelStart),
        folderNumber: Number(folderNumber),
        documentId: String(documentId),
      }
    },
  }
}
