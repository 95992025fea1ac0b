import { type DeletionContext, deleteDocumentRows, followDeletion } from '../documents/deletion.ts'
import { Refusal } from '../errors/errors.ts'
import {
  deleteFolderRow,
  type FolderRow,
  lockDocumentsInFolders,
  subtreeOf,
  visibleFolder,
} from '../knowledge-bases/folders.ts'
import {
  deleteKnowledgeBaseRow,
  type KnowledgeBaseKey,
  lockDocumentsInKnowledgeBase,
  lockStructure,
} from '../knowledge-bases/queries.ts'

/**
 * Deletes a folder with its subfolders and documents. `seen` is the folder as the caller found it. Refuses with 404
 * `folder_not_found` when the folder was deleted since then.
 */
export async function deleteFolder(context: DeletionContext, seen: FolderRow): Promise<void> {
  const { tx } = context
  const workspaceId = seen.workspace_id
  lockStructure(tx, { workspaceId, knowledgeBaseIds: [seen.knowledge_base_id], mode: 'empty' })
  const folder = await visibleFolder(tx, { id: seen.id, workspaceIds: [workspaceId] })
  if (folder === null) throw new Refusal('folder_not_found', { details: { id: seen.id } })
  if (folder.knowledge_base_id !== seen.knowledge_base_id) return deleteFolder(context, folder)
  const folderIds = await subtreeOf(tx, folder)
  const documentIds = await lockDocumentsInFolders(tx, { workspaceId, folderIds })
  const documents = await deleteDocumentRows(tx, { workspaceId, documentIds })
  await deleteFolderRow(tx, folder)
  await followDeletion(context, { workspaceId, documents, folders: folderIds })
}

/**
 * Deletes a knowledge base with everything in it. Refuses with 404 `knowledge_base_not_found` when somebody else
 * deleted the knowledge base since the caller found it.
 */
export async function deleteKnowledgeBase(context: DeletionContext, key: KnowledgeBaseKey): Promise<void> {
  const { tx } = context
  const { workspaceId } = key
  lockStructure(tx, { workspaceId, knowledgeBaseIds: [key.id], mode: 'empty' })
  const documentIds = await lockDocumentsInKnowledgeBase(tx, key)
  const documents = await deleteDocumentRows(tx, { workspaceId, documentIds })
  if (!(await deleteKnowledgeBaseRow(tx, key))) {
    throw new Refusal('knowledge_base_not_found', { details: { id: key.id } })
  }
  await followDeletion(context, { workspaceId, documents, knowledgeBases: [key.id] })
}
