import type { Transaction } from '../database/database.ts'
import { documentsMoved } from '../documents/moved.ts'
import { Refusal } from '../errors/errors.ts'
import type { Jobs } from '../jobs/queues.ts'
import {
  changeKnowledgeBaseOfDocuments,
  changeKnowledgeBaseOfFolders,
  type FolderRow,
  lockDocumentsInFolders,
  subtreeOf,
  updateFolderRow,
} from '../knowledge-bases/folders.ts'
import type { Place } from '../knowledge-bases/locations.ts'
import { lockStructure } from '../knowledge-bases/queries.ts'

/** What a move works with; `userId` is whom the documents name as `updated_by`. */
export type MoveContext = { tx: Transaction; jobs: Jobs; userId: string }

/** A folder and where it is to go, within one workspace. */
export type Move = { folder: FolderRow; destination: Place }

/** Holds what a move rests on; folder and destination are to be read again afterwards (see the README). */
export function lockMove(tx: Transaction, { folder, destination }: Move): Promise<void> {
  const stays = folder.knowledge_base_id === destination.knowledge_base_id
  return lockStructure(tx, {
    workspaceId: folder.workspace_id,
    knowledgeBaseIds: [folder.knowledge_base_id, destination.knowledge_base_id],
    hold: stays ? 'rearrange' : 'empty',
  })
}

/**
 * Moves a folder and everything below it under the lock of `lockMove`. Refuses with 409 `folder_cycle` when the
 * destination is the folder itself or below it.
 */
export async function moveFolder(context: MoveContext, move: Move & { name: string }): Promise<FolderRow> {
  const { folder, destination } = move
  const folderIds = await subtreeOf(context.tx, folder)
  if (destination.folder_id !== null && folderIds.includes(destination.folder_id)) throw new Refusal('folder_cycle')
  const moved = await updateFolderRow(context.tx, {
    workspace_id: folder.workspace_id,
    id: folder.id,
    name: move.name,
    knowledge_base_id: destination.knowledge_base_id,
    parent_id: destination.folder_id,
  })
  if (folder.knowledge_base_id !== destination.knowledge_base_id) {
    await takeAlong(context, { folderIds, destination, folderId: folder.id })
  }
  return moved
}

async function takeAlong(
  context: MoveContext,
  input: { folderIds: readonly number[]; destination: Place; folderId: number },
): Promise<void> {
  const { tx, userId } = context
  const { workspace_id: workspaceId, knowledge_base_id: knowledgeBaseId } = input.destination
  const below = input.folderIds.filter((id) => id !== input.folderId)
  await changeKnowledgeBaseOfFolders(tx, { workspaceId, folderIds: below, knowledgeBaseId })
  const documentIds = await lockDocumentsInFolders(tx, { workspaceId, folderIds: input.folderIds })
  await changeKnowledgeBaseOfDocuments(tx, { workspaceId, documentIds, knowledgeBaseId, userId })
  await documentsMoved(context, { workspaceId, documentIds })
}
