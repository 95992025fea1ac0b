import type { PlacedLine } from '../../body/manifest.ts'
import type { Transaction } from '../../database/database.ts'
import type { DocumentRow } from '../../documents/queries.ts'
import * as queries from './queries.ts'
import { blank, textBlocks } from './texts.ts'

/** The lines that only one of two bodies has; `compareLines` computes them. */
type BodyStep = { removed: readonly PlacedLine[]; added: readonly PlacedLine[] }

/**
 * Brings the units of a document in line with a write to its body. Runs in the transaction of the write, so no reader
 * sees a status that contradicts the texts. Locks units in id order, after the documents. The cost follows the edit and
 * not the size of the document.
 */
export async function syncUnits(
  tx: Transaction,
  input: { document: Pick<DocumentRow, 'workspace_id' | 'id' | 'variant_role'>; step: BodyStep },
): Promise<void> {
  const { document, step } = input
  if (document.variant_role === 'source') await syncUnitsOfSource(tx, document, step)
  if (document.variant_role === 'translation') await syncUnitsOfTarget(tx, document, step)
}

type Member = Pick<DocumentRow, 'workspace_id' | 'id'>

async function syncUnitsOfSource(tx: Transaction, document: Member, step: BodyStep): Promise<void> {
  const change = sourceChange(step)
  if (change.gone.length + change.present.length === 0) return
  const { workspace_id: workspaceId, id: sourceId } = document
  const targetIds = await queries.lockTargets(tx, { workspaceId, sourceId })
  if (targetIds.length > 0) await queries.applySourceChange(tx, { workspaceId, targetIds, change })
}

async function syncUnitsOfTarget(tx: Transaction, document: Member, step: BodyStep): Promise<void> {
  const change = targetChange(step)
  if (change.length === 0) return
  const key = { workspaceId: document.workspace_id, targetId: document.id }
  const unitIds = await queries.lockUnitsOfBlocks(tx, { ...key, blockIds: change.map(({ block_id }) => block_id) })
  if (unitIds.length === 0) return
  await queries.setBlockHashes(tx, { ...key, change })
  await queries.refreshTargetHashes(tx, { workspaceId: key.workspaceId, unitIds, byHand: true })
}

// Finds the texts of a source that a write changed. A block that was only moved is not among them.
function sourceChange(step: BodyStep): queries.SourceChange {
  const { before, after } = hashes(step)
  const gone = [...before].filter(([id, hash]) => hash !== blank && (after.get(id) ?? blank) === blank)
  const present = [...after].filter(([id, hash]) => hash !== blank && before.get(id) !== hash)
  return { gone: gone.map(([id]) => id), present: present.map(([block_id, hash]) => ({ block_id, hash })) }
}

// Finds the blocks of a target whose text a write changed.
function targetChange(step: BodyStep): queries.TargetChange {
  const { before, after } = hashes(step)
  const ids = new Set([...before.keys(), ...after.keys()])
  return [...ids].flatMap((block_id) => {
    const hash = after.get(block_id) ?? blank
    return hash === (before.get(block_id) ?? blank) ? [] : [{ block_id, hash }]
  })
}

function hashes({ removed, added }: BodyStep): { before: Map<string, string>; after: Map<string, string> } {
  return { before: hashesById(removed), after: hashesById(added) }
}

function hashesById(lines: readonly PlacedLine[]): Map<string, string> {
  return new Map(textBlocks(lines.map(({ block }) => block)).map(({ id, hash }) => [id, hash]))
}
