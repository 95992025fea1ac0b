import { withLimitsOf } from '../database/database.ts'
import { type DeletionContext, deleteDocumentRows, followDeletion, type TrashRoot } from '../documents/deletion.ts'
import { lockDocuments } from '../documents/queries.ts'
import { Refusal } from '../errors/errors.ts'
import {
  deleteFolderRow,
  type FolderRow,
  idsOfFolders,
  lockDocumentsInFolders,
  subtreeOf,
  visibleFolder,
} from '../knowledge-bases/folders.ts'
import {
  deleteKnowledgeBaseRow,
  type KnowledgeBaseKey,
  lockDocumentsInKnowledgeBase,
  lockStructure,
  nameOfKnowledgeBase,
} from '../knowledge-bases/queries.ts'
import { newId } from '../schema/ids.ts'

/**
 * Deletes a folder with its subfolders and documents. `seen` is the folder as the caller found it. Refuses with 404
 * `folder_not_found` when the folder was deleted since then.
 */
export function deleteFolder(context: DeletionContext, seen: FolderRow): Promise<void> {
  const { tx } = context
  const workspaceId = seen.workspace_id
  return withLimitsOf(tx, 'whole', async () => {
    await lockStructure(tx, { workspaceId, knowledgeBaseIds: [seen.knowledge_base_id], mode: 'empty' })
    const folder = await visibleFolder(tx, { id: seen.id, workspaceIds: [workspaceId] })
    if (folder === null) throw new Refusal('folder_not_found', { details: { id: seen.id } })
    if (folder.knowledge_base_id !== seen.knowledge_base_id) return deleteFolder(context, folder)
    const folders = await subtreeOf(tx, folder)
    const documentIds = await lockDocumentsInFolders(tx, { workspaceId, folderIds: folders })
    await deleteContents(context, {
      workspaceId,
      documentIds,
      folders,
      knowledgeBases: [],
      root: {
        type: 'folder',
        folderId: folder.id,
        name: folder.name,
        knowledgeBaseId: folder.knowledge_base_id,
        parentFolderId: folder.parent_id,
      },
      deleteRoot: () => deleteFolderRow(tx, folder),
    })
  })
}

/**
 * Deletes a knowledge base with everything in it. Refuses with 404 `knowledge_base_not_found` when somebody else
 * deleted the knowledge base since the caller found it.
 */
export function deleteKnowledgeBase(context: DeletionContext, key: KnowledgeBaseKey): Promise<void> {
  const { tx } = context
  const { workspaceId, id } = key
  return withLimitsOf(tx, 'whole', async () => {
    await lockStructure(tx, { workspaceId, knowledgeBaseIds: [id], mode: 'empty' })
    const name = await nameOfKnowledgeBase(tx, key)
    if (name === null) throw new Refusal('knowledge_base_not_found', { details: { id } })
    const folders = await idsOfFolders(tx, key)
    const documentIds = await lockDocumentsInKnowledgeBase(tx, key)
    await deleteContents(context, {
      workspaceId,
      documentIds,
      folders,
      knowledgeBases: [id],
      root: { type: 'knowledge_base', name, knowledgeBaseId: id, parentFolderId: null },
      deleteRoot: () => deleteKnowledgeBaseRow(tx, key),
    })
  })
}

type Contents = {
  workspaceId: string
  documentIds: readonly string[]
  folders: readonly number[]
  knowledgeBases: readonly number[]
  root: { name: string; knowledgeBaseId: number; parentFolderId: number | null } & (
    | { type: 'folder'; folderId: number }
    | { type: 'knowledge_base' }
  )
  /** Deletes the folder or knowledge base when there is no trash. */
  deleteRoot: () => Promise<void>
}

// Deletes locked documents and then what contains them. Foreign keys refuse the opposite order.
async function deleteContents(context: DeletionContext, contents: Contents): Promise<void> {
  const { tx, trash } = context
  const { workspaceId, documentIds, folders, knowledgeBases } = contents
  const documents = await lockDocuments(tx, { workspaceId, documentIds })
  const entryId = newId('trash')
  const root: TrashRoot = { ...contents.root, entryId, documentCount: documents.length }
  await trash?.open(context, { workspaceId, roots: [root], documentIds })
  await deleteDocumentRows(context, { workspaceId, documents, entryIds: documents.map(() => entryId) })
  if (trash === null) await contents.deleteRoot()
  else await trash.moveContainers(tx, { workspaceId, folders, knowledgeBases, entryId })
  await followDeletion(context, {
    workspaceId,
    documents,
    folders,
    knowledgeBases,
    entryId: trash === null ? null : entryId,
  })
}
