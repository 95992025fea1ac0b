import { type Caller, requireWriter, visibleWorkspaces } from '../auth/caller.ts'
import type { Transaction } from '../database/database.ts'
import { Refusal } from '../errors/errors.ts'
import type { Jobs } from '../jobs/queues.ts'
import { type FolderRow, renameFolder, visibleFolder } from '../knowledge-bases/folders.ts'
import { findPlace, type Place } from '../knowledge-bases/locations.ts'
import type { NamedId } from '../schema/identifiers.ts'
import { lockMove, type Move, moveFolder } from './move-folder.ts'

/** The decoded body of `PATCH /folders/{id}`. */
export type FolderUpdate = {
  name?: string | undefined
  knowledge_base_id?: NamedId | undefined
  parent_id?: NamedId | null | undefined
}

type UpdateContext = { tx: Transaction; jobs: Jobs; caller: Caller }

/**
 * Renames and moves a folder as far as the body says so (decisions 2.2); what stays the same leaves `updated_at`.
 * Refuses with 404 for what is not visible, 403 for viewers, 400 `folder_knowledge_base_mismatch` and
 * `cross_workspace_move`, 409 `folder_cycle`.
 */
export async function updateFolder(
  context: UpdateContext,
  request: { id: number; update: FolderUpdate },
): Promise<FolderRow> {
  const { tx, caller } = context
  const read = await readMove(context, request)
  requireWriter(caller, read.folder.workspace_id)
  if (!isMove(request.update)) return rename(tx, { folder: read.folder, name: request.update.name })
  if (read.destination.workspace_id !== read.folder.workspace_id) throw new Refusal('cross_workspace_move')
  const { folder, destination } = await settleMove(context, { ...request, read })
  const name = request.update.name?.trim() ?? folder.name
  if (isAt(folder, destination)) return rename(tx, { folder, name })
  return moveFolder({ ...context, userId: caller.userId }, { folder, destination, name })
}

async function readMove(context: UpdateContext, request: { id: number; update: FolderUpdate }): Promise<Move> {
  const { id, update } = request
  const { tx, caller } = context
  const folder = await visibleFolder(tx, { id, workspaceIds: visibleWorkspaces(caller) })
  if (folder === null) throw new Refusal('folder_not_found', { details: { id } })
  const here = { ...folder, folder_id: folder.parent_id }
  const destination = await findPlace(tx, {
    caller,
    knowledgeBaseId: update.knowledge_base_id ?? (update.parent_id === null ? folder.knowledge_base_id : undefined),
    folderId: update.parent_id,
    folderField: 'parent_id',
  })
  return { folder, destination: destination ?? here }
}

// Takes the locks that the move needs and reads it again; another move may have changed which ones those are.
async function settleMove(
  context: UpdateContext,
  request: { id: number; update: FolderUpdate; read: Move },
): Promise<Move> {
  const { read } = request
  await lockMove(context.tx, read)
  const settled = await readMove(context, request)
  const same =
    settled.folder.knowledge_base_id === read.folder.knowledge_base_id &&
    settled.destination.knowledge_base_id === read.destination.knowledge_base_id
  return same ? settled : settleMove(context, { ...request, read: settled })
}

async function rename(tx: Transaction, input: { folder: FolderRow; name: string | undefined }): Promise<FolderRow> {
  const { folder } = input
  const name = input.name?.trim() ?? folder.name
  if (name === folder.name) return folder
  const renamed = await renameFolder(tx, { ...folder, name })
  if (renamed === null) throw new Refusal('folder_not_found', { details: { id: folder.id } })
  return renamed
}

function isMove(update: FolderUpdate): boolean {
  return update.parent_id !== undefined || update.knowledge_base_id !== undefined
}

function isAt(folder: FolderRow, place: Place): boolean {
  return folder.knowledge_base_id === place.knowledge_base_id && folder.parent_id === place.folder_id
}
