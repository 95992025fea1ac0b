import { type Caller, requireWriter, visibleWorkspaces } from '../auth/caller.ts'
import type { Transaction } from '../database/database.ts'
import { Refusal } from '../errors/errors.ts'
import { deleteRelationRow, lockRelation } from './write.ts'

/**
 * Deletes a manual relation: 404 `relation_not_found`, 403 without a writing role where its source is, 409
 * `inline_relation` for one that is a link in a body.
 */
export async function deleteRelation(
  context: { tx: Transaction },
  input: { id: string; caller: Caller },
): Promise<void> {
  const { id, caller } = input
  const relation = await lockRelation(context.tx, { id, workspaceIds: visibleWorkspaces(caller) })
  if (relation === null) throw new Refusal('relation_not_found', { details: { id } })
  requireWriter(caller, relation.workspace_id)
  if (relation.origin === 'inline') {
    const details = { document_id: relation.source_document_id, block_id: relation.source_block_id }
    throw new Refusal('inline_relation', { details })
  }
  await deleteRelationRow(context.tx, relation)
}
