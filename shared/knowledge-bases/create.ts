import type { Transaction } from '../database/database.ts'
import { enforceQuota, type QuotaLimits } from '../quotas/quotas.ts'
import { insertKnowledgeBase, type KnowledgeBaseRow } from './queries.ts'

/** Creates a knowledge base in a workspace; refuses with 409 `quota_exceeded`. The name is trimmed. */
export async function createKnowledgeBase(
  context: { tx: Transaction; config: QuotaLimits },
  input: { workspaceId: string; name: string; createdBy: string },
): Promise<KnowledgeBaseRow> {
  const { workspaceId, createdBy } = input
  await enforceQuota(context, { workspaceId, quota: 'knowledge_bases', adding: 1 })
  return insertKnowledgeBase(context.tx, { workspaceId, name: input.name.trim(), createdBy })
}
