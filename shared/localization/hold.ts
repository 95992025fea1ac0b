import { type Caller, requireWriter, visibleWorkspaces } from '../auth/caller.ts'
import type { Transaction } from '../database/database.ts'
import { type DocumentRow, lockDocument, visibleDocument } from '../documents/queries.ts'
import { lockStructure } from '../knowledge-bases/queries.ts'

/**
 * Locks a document from which translations are made, and before it its knowledge base, since they are put beside it:
 * that is the order in which deletions lock. Null when the document is gone. Should it move between the two locks, the
 * second knowledge base is locked out of order; a deadlock with a deletion there is found by PostgreSQL, and the
 * transaction runs again.
 */
export async function holdSource(
  tx: Transaction,
  locator: { documentId: string; workspaceIds: readonly string[] },
): Promise<DocumentRow | null> {
  const seen = await visibleDocument(tx, locator)
  if (seen === null) return null
  await holdPlaceOf(tx, seen)
  const source = await lockDocument(tx, locator)
  if (source !== null && source.knowledge_base_id !== seen.knowledge_base_id) await holdPlaceOf(tx, source)
  return source
}

/** Locks a document for a write of its caller; null when it is gone, 403 for a role that may not write. */
export async function holdMember(
  tx: Transaction,
  input: { caller: Caller; documentId: string },
): Promise<DocumentRow | null> {
  const { caller, documentId } = input
  const document = await lockDocument(tx, { documentId, workspaceIds: visibleWorkspaces(caller) })
  if (document !== null) requireWriter(caller, document.workspace_id)
  return document
}

function holdPlaceOf(tx: Transaction, document: DocumentRow): Promise<void> {
  const { workspace_id: workspaceId, knowledge_base_id: id } = document
  return lockStructure(tx, { workspaceId, knowledgeBaseIds: [id], mode: 'add' })
}
