import type { Transaction } from '../database/database.ts'
import { deleteDocuments } from '../documents/deletion.ts'
import type { DeletionFollower } from '../documents/followers.ts'
import { Refusal } from '../errors/errors.ts'
import { sourcesDeleted } from '../jobs/requested/obsolete.ts'
import {
  deleteKnowledgeBaseRow,
  type KnowledgeBaseKey,
  lockDocumentsInKnowledgeBase,
  lockStructure,
} from '../knowledge-bases/queries.ts'

/**
 * Deletes a knowledge base with all its contents (decisions 4.15) and returns the ids of the documents that went with
 * it. Refuses with 404 `knowledge_base_not_found` when somebody else deleted it since the caller found it.
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
  if (!(await deleteKnowledgeBaseRow(tx, key))) {
    throw new Refusal('knowledge_base_not_found', { details: { id: key.id } })
  }
  await sourcesDeleted(tx, { workspaceId, knowledgeBases: [key.id] })
  return documentIds
}
