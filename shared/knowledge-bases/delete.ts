import type { Transaction } from '../database.ts'
import { deleteDocuments } from '../documents/deletion.ts'
import type { DeletionFollower } from '../documents/followers.ts'
import { sourcesDeleted } from '../user-jobs/obsolete.ts'
import {
  deleteKnowledgeBaseRow,
  type KnowledgeBaseKey,
  lockDocumentsInKnowledgeBase,
  lockStructure,
} from './queries.ts'

/**
 * Deletes a knowledge base with all its contents (decisions 4.15) and returns the ids of the documents that went with
 * it; deleting twice does nothing more.
 */
export async function deleteKnowledgeBase(
  context: { tx: Transaction; followers: readonly DeletionFollower[] },
  key: KnowledgeBaseKey,
): Promise<readonly string[]> {
  const { tx } = context
  const { workspaceId } = key
  await lockStructure(tx, { workspaceId, knowledgeBaseIds: [key.id], hold: 'empty' })
  const documentIds = await lockDocumentsInKnowledgeBase(tx, key)
  await deleteDocuments(context, { workspaceId, documentIds })
  await deleteKnowledgeBaseRow(tx, key)
  await sourcesDeleted(tx, { workspaceId, knowledgeBases: [key.id] })
  return documentIds
}
