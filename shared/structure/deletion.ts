import type { Transaction } from '../database/database.ts'
import { deleteDocuments } from '../documents/deletion.ts'
import type { DeletionFollower } from '../documents/followers.ts'
import { Refusal } from '../errors/errors.ts'
import { sourcesDeleted } from '../jobs/requested/obsolete.ts'
import {
  deleteFolderRow,
  type FolderRow,
  lockDocumentsInFolders,
  subtreeOf,
  visibleFolder,
} from '../knowledge-bases/folders.ts'
import { lockStructure } from '../knowledge-bases/queries.ts'

/**
 * Deletes a folder with its subfolders and documents (decisions 4.15). Refuses with 404 when it was deleted since it
 * was read.
 */
export async function deleteFolder(
  context: { tx: Transaction; followers: readonly DeletionFollower[] },
  seen: FolderRow,
): Promise<void> {
  const { tx } = context
  const workspaceId = seen.workspace_id
  await lockStructure(tx, { workspaceId, knowledgeBaseIds: [seen.knowledge_base_id], hold: 'empty' })
  const folder = await visibleFolder(tx, { id: seen.id, workspaceIds: [workspaceId] })
  if (folder === null) throw new Refusal('folder_not_found', { details: { id: seen.id } })
  if (folder.knowledge_base_id !== seen.knowledge_base_id) return deleteFolder(context, folder)
  const folderIds = await subtreeOf(tx, folder)
  const documentIds = await lockDocumentsInFolders(tx, { workspaceId, folderIds })
  await deleteDocuments(context, { workspaceId, documentIds })
  await deleteFolderRow(tx, folder)
  await sourcesDeleted(tx, { workspaceId, folders: folderIds })
}
