import { type TwoTexts, twoTextComputation } from '../../body/change.ts'
import { compareLines, type PositionedLine } from '../../body/manifest.ts'
import type { Ahead } from '../../computations/ahead.ts'
import type { Transaction } from '../../database/database.ts'
import type { DocumentRow } from '../../documents/queries.ts'
import * as queries from './queries.ts'
import { blank, textBlocks } from './texts.ts'

/**
 * Updates the units of a document after a write to its body. Runs in the transaction of the write, so no reader sees a
 * status that contradicts the texts. Locks the units in id order; the write has locked the document before.
 */
export async function syncUnits(
  { tx, ahead }: { tx: Transaction; ahead: Ahead },
  input: { document: Pick<DocumentRow, 'workspace_id' | 'id' | 'variant_role'>; texts: TwoTexts },
): Promise<void> {
  const { document, texts } = input
  const { workspace_id: workspaceId, id, variant_role: role } = document
  if (role === 'source') {
    const targetIds = await queries.lockTargets(tx, { workspaceId, sourceId: id })
    if (targetIds.length === 0) return
    const change = await ahead.result(changingSource, { ...texts, targets: targetIds.length })
    if (change !== null) await queries.applySourceChange(tx, { workspaceId, targetIds, change })
  }
  if (role === 'translation') {
    const change = await ahead.result(changingTarget, texts)
    if (change !== null) await queries.applyTargetChange(tx, { workspaceId, targetId: id, change })
  }
}

/** A change of a source document that has the bodies before and after a write, and the number of translations. */
type SourceTexts = TwoTexts & { targets: number }

/**
 * Finds the texts of a source document that a write changed. A block that was only moved counts as unchanged. Returns
 * null when no text has changed. @public
 */
export function changeSource({ targets, ...texts }: SourceTexts): queries.SourceChange | null {
  const { before, after } = hashes(texts)
  const gone = [...before].filter(([id, hash]) => hash !== blank && (after.get(id) ?? blank) === blank)
  const present = [...after].filter(([id, hash]) => hash !== blank && before.get(id) !== hash)
  if (gone.length + present.length === 0) return null
  const changed = present.map(([block_id, hash]) => ({ block_id, hash }))
  return {
    gone: gone.length === 0 ? null : JSON.stringify(gone.map(([id]) => id)),
    present: changed.length === 0 ? null : JSON.stringify(queries.newUnits(changed, targets)),
  }
}

/**
 * Finds the blocks of a translation whose text a write changed. Returns the JSON text of a list of `TextHash`, or null
 * when no text has changed. @public
 */
export function changeTarget(texts: TwoTexts): string | null {
  const { before, after } = hashes(texts)
  const ids = new Set([...before.keys(), ...after.keys()])
  const change = [...ids].flatMap((block_id): queries.TextHash[] => {
    const hash = after.get(block_id) ?? blank
    return hash === (before.get(block_id) ?? blank) ? [] : [{ block_id, hash }]
  })
  return change.length === 0 ? null : JSON.stringify(change)
}

const module = import.meta.url
const changingSource = twoTextComputation({ module, run: changeSource })
const changingTarget = twoTextComputation({ module, run: changeTarget })

function hashes({ from, to }: TwoTexts): { before: Map<string, string>; after: Map<string, string> } {
  const { removed, added } = compareLines(linesOf(from), linesOf(to))
  return { before: hashesById(removed), after: hashesById(added) }
}

// A text is empty when all its lines are in the other text too.
function linesOf(text: string): string[] {
  return text === '' ? [] : text.split('\n')
}

function hashesById(lines: readonly PositionedLine[]): Map<string, string> {
  return new Map(textBlocks(lines.map(({ block }) => block)).map(({ id, hash }) => [id, hash]))
}
