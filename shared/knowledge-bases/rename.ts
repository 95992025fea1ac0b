import type { Transaction } from '../database/database.ts'
import { Refusal } from '../errors/errors.ts'
import { type KnowledgeBaseKey, type KnowledgeBaseRow, renameKnowledgeBase as renameRow } from './queries.ts'

/** Renames a knowledge base; the name is trimmed. Refuses with 404 when it was deleted meanwhile. */
export async function renameKnowledgeBase(
  tx: Transaction,
  input: KnowledgeBaseKey & { name: string },
): Promise<KnowledgeBaseRow> {
  const renamed = await renameRow(tx, { ...input, name: input.name.trim() })
  if (renamed === null) throw new Refusal('knowledge_base_not_found', { details: { id: input.id } })
  return renamed
}
