import { type TwoTexts, twoTextComputation } from '../../body/change.ts'
import { compareLines, type PositionedLine } from '../../body/manifest.ts'
import type { Ahead } from '../../computations/ahead.ts'
import type { Transaction } from '../../database/database.ts'
import type { DocumentRow } from '../../documents/queries.ts'
import * as queries from './queries.ts'
import { blank, textBlocks } from './texts.ts'

/**
 * Brings the units of a document in line with a write to its body. Runs in the transaction of the write, so no reader
 * sees a status that contradicts the texts. Locks units in id order, after the documents.
 */
export async function syncUnits(
  { tx, ahead }: { tx: Transaction; ahead: Ahead },
  input: { document: Pick<DocumentRow, 'workspace_id' | 'id' | 'variant_role'>; texts: TwoTexts },
): Promise<void> {
  const { document, texts } = input
  const { variant_role: role } = document
  if (role === 'source') await syncUnitsOfSource(tx, document, ahead.result(changingSource, texts))
  if (role === 'translation') await syncUnitsOfTarget(tx, document, ahead.result(changingTarget, texts))
}

type Member = Pick<DocumentRow, 'workspace_id' | 'id'>

async function syncUnitsOfSource(tx: Transaction, document: Member, change: queries.SourceChange): Promise<void> {
  if (change.gone.length + change.present.length === 0) return
  const { workspace_id: workspaceId, id: sourceId } = document
  const targetIds = await queries.lockTargets(tx, { workspaceId, sourceId })
  if (targetIds.length > 0) await queries.applySourceChange(tx, { workspaceId, targetIds, change })
}

async function syncUnitsOfTarget(tx: Transaction, document: Member, change: queries.TargetChange): Promise<void> {
  if (change.length === 0) return
  const key = { workspaceId: document.workspace_id, targetId: document.id }
  const unitIds = await queries.lockUnitsOfBlocks(tx, { ...key, blockIds: change.map(({ block_id }) => block_id) })
  if (unitIds.length === 0) return
  await queries.setBlockHashes(tx, { ...key, change })
  await queries.refreshTargetHashes(tx, { workspaceId: key.workspaceId, unitIds, byHand: true })
}

/** Finds the texts of a source that a write changed; a block that was only moved is not among them. @public */
export function changeSource(texts: TwoTexts): queries.SourceChange {
  const { before, after } = hashes(texts)
  const gone = [...before].filter(([id, hash]) => hash !== blank && (after.get(id) ?? blank) === blank)
  const present = [...after].filter(([id, hash]) => hash !== blank && before.get(id) !== hash)
  return { gone: gone.map(([id]) => id), present: present.map(([block_id, hash]) => ({ block_id, hash })) }
}

/** Finds the blocks of a target whose text a write changed. @public */
export function changeTarget(texts: TwoTexts): queries.TargetChange {
  const { before, after } = hashes(texts)
  const ids = new Set([...before.keys(), ...after.keys()])
  return [...ids].flatMap((block_id) => {
    const hash = after.get(block_id) ?? blank
    return hash === (before.get(block_id) ?? blank) ? [] : [{ block_id, hash }]
  })
}

const module = import.meta.url
const changingSource = twoTextComputation({ module, run: changeSource })
const changingTarget = twoTextComputation({ module, run: changeTarget })

function hashes({ from, to }: TwoTexts): { before: Map<string, string>; after: Map<string, string> } {
  const { removed, added } = compareLines(from.split('\n'), to.split('\n'))
  return { before: hashesById(removed), after: hashesById(added) }
}

function hashesById(lines: readonly PositionedLine[]): Map<string, string> {
  return new Map(textBlocks(lines.map(({ block }) => block)).map(({ id, hash }) => [id, hash]))
}
