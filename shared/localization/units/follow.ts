import type { TwoTexts } from '../../body/change.ts'
import type { Ahead } from '../../computations/ahead.ts'
import type { Transaction } from '../../database/database.ts'
import type { DocumentRow } from '../../documents/queries.ts'
import { changingSource, changingTarget, type SourceChange, type TargetChange } from './changes.ts'
import * as queries from './queries.ts'

/**
 * Brings the units of a document in line with a write to its body, in the transaction of the write, so that no reader
 * sees a status that its texts contradict. Units are locked in the order of their ids, after documents.
 */
export async function followBody(
  { tx, ahead }: { tx: Transaction; ahead: Ahead },
  input: { document: Pick<DocumentRow, 'workspace_id' | 'id' | 'variant_role'>; texts: TwoTexts },
): Promise<void> {
  const { document, texts } = input
  const { variant_role: role } = document
  if (role === 'source') await followSourceBody(tx, document, ahead.result(changingSource, texts))
  if (role === 'translation') await followTargetBody(tx, document, ahead.result(changingTarget, texts))
}

type Member = Pick<DocumentRow, 'workspace_id' | 'id'>

async function followSourceBody(tx: Transaction, document: Member, change: SourceChange): Promise<void> {
  if (change.gone.length + change.present.length === 0) return
  const { workspace_id: workspaceId, id: sourceId } = document
  const targetIds = await queries.holdTargets(tx, { workspaceId, sourceId })
  if (targetIds.length > 0) await queries.followSource(tx, { workspaceId, targetIds, change })
}

async function followTargetBody(tx: Transaction, document: Member, change: TargetChange): Promise<void> {
  if (change.length === 0) return
  const key = { workspaceId: document.workspace_id, targetId: document.id }
  const unitIds = await queries.lockUnitsOfBlocks(tx, { ...key, blockIds: change.map(({ block_id }) => block_id) })
  if (unitIds.length === 0) return
  await queries.setBlockHashes(tx, { ...key, change })
  await queries.refreshTargetHashes(tx, { workspaceId: key.workspaceId, unitIds, byHand: true })
}
