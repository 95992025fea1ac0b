import { type Caller, visibleWorkspaces } from '../auth/caller.ts'
import type { Queryable, Transaction } from '../database/database.ts'
import { Refusal } from '../errors/errors.ts'
import { type KnowledgeBaseKey, lockStructure, workspaceOfKnowledgeBase } from '../knowledge-bases/queries.ts'
import type { NamedId } from '../schema/identifiers.ts'

/** The visible knowledge base that a query or body names; otherwise 404 with the member. */
export async function findKnowledgeBaseKey(
  db: Queryable,
  input: { caller: Caller; id: NamedId },
): Promise<KnowledgeBaseKey> {
  const { caller, id } = input
  const workspaceId = await workspaceOfKnowledgeBase(db, { id, workspaceIds: visibleWorkspaces(caller) })
  if (workspaceId === null) {
    throw new Refusal('knowledge_base_not_found', { details: { id, field: 'knowledge_base_id' } })
  }
  return { workspaceId, id: Number(id) }
}

/** Keeps a knowledge base from being deleted until the transaction ends; 404 when that has happened meanwhile. */
export async function lockKnowledgeBase(tx: Transaction, key: KnowledgeBaseKey): Promise<void> {
  const { workspaceId, id } = key
  await lockStructure(tx, { workspaceId, knowledgeBaseIds: [id], mode: 'add' })
  if ((await workspaceOfKnowledgeBase(tx, { id, workspaceIds: [workspaceId] })) !== null) return
  throw new Refusal('knowledge_base_not_found', { details: { id, field: 'knowledge_base_id' } })
}
