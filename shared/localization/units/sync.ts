import type { Transaction } from '../../database/database.ts'
import type { DocumentRow } from '../../documents/queries.ts'
import { type BodyStep, sourceChange, targetChange } from './changes.ts'
import * as queries from './queries.ts'

/**
 * Brings the units of a document in line with a write to its body, in the transaction of the write, so that no reader
 * sees a status that its texts contradict. Units are locked in the order of their ids, after documents.
 */
export async function followBody(
  tx: Transaction,
  input: { document: Pick<DocumentRow, 'workspace_id' | 'id' | 'variant_role'>; step: BodyStep },
): Promise<void> {
  const { document, step } = input
  if (document.variant_role === 'source') await followSourceBody(tx, document, step)
  if (document.variant_role === 'translation') await followTargetBody(tx, document, step)
}

type Member = Pick<DocumentRow, 'workspace_id' | 'id'>

async function followSourceBody(tx: Transaction, document: Member, step: BodyStep): Promise<void> {
  const change = sourceChange(step)
  if (change.gone.length + change.present.length === 0) return
  const { workspace_id: workspaceId, id: sourceId } = document
  const targetIds = await queries.holdTargets(tx, { workspaceId, sourceId })
  if (targetIds.length > 0) await queries.followSource(tx, { workspaceId, targetIds, change })
}

async function followTargetBody(tx: Transaction, document: Member, step: BodyStep): Promise<void> {
  const change = targetChange(step)
  if (change.length === 0) return
  const key = { workspaceId: document.workspace_id, targetId: document.id }
  const unitIds = await queries.lockUnitsOfBlocks(tx, { ...key, blockIds: change.map(({ block_id }) => block_id) })
  if (unitIds.length === 0) return
  await queries.setBlockHashes(tx, { ...key, change })
  await queries.refreshTargetHashes(tx, { workspaceId: key.workspaceId, unitIds, byHand: true })
}
