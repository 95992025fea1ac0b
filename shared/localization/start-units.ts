import type { Transaction } from '../database/database.ts'
import type { DocumentRow } from '../documents/queries.ts'
import type { SourceChange } from './units/changes.ts'
import { insertTargets, mapCopies, putUnits, sourcedUnits } from './units/queries.ts'

/** A new translation; `blockIds` leads from blocks of the source to their copies and is empty for a blank body. */
export type NewTarget = { document: DocumentRow; blockIds: ReadonlyMap<string, string> }

/**
 * Makes the units of new translations, one for each text of the source that is `present`, mapped to the blocks that were
 * copied; the source is locked.
 */
export async function startUnits(
  tx: Transaction,
  input: { source: DocumentRow; present: SourceChange['present']; targets: readonly NewTarget[] },
): Promise<void> {
  const { source, present, targets } = input
  if (targets.length === 0) return
  const workspaceId = source.workspace_id
  const targetIds = targets.map(({ document }) => document.id)
  await insertTargets(tx, { workspaceId, sourceId: source.id, targetIds })
  if (present.length === 0) return
  await putUnits(tx, { workspaceId, targetIds, change: { present } })
  if (targets.every(({ blockIds }) => blockIds.size === 0)) return
  // Paired here, since a join on units that were only just inserted is planned without knowing how many they are.
  const blocksOf = new Map(targets.map(({ document, blockIds }) => [document.id, blockIds]))
  const copies = (await sourcedUnits(tx, { workspaceId, targetIds })).flatMap((unit) => {
    const blockId = blocksOf.get(unit.target_id)?.get(unit.source_block_id)
    return blockId === undefined ? [] : { unitId: unit.id, targetId: unit.target_id, blockId }
  })
  if (copies.length > 0) await mapCopies(tx, { workspaceId, copies })
}
