import { StoredBody, textComputation } from '../../body/stored-body.ts'
import type { Ahead } from '../../computations/ahead.ts'
import type { Transaction } from '../../database/database.ts'
import type { DocumentRow } from '../../documents/queries.ts'
import { bodiesOf } from '../pair.ts'
import { derivingUnits } from './prepare.ts'
import * as queries from './queries.ts'
import { textBlocks } from './texts.ts'

/**
 * Brings the units of a translation up to date with both bodies, after one of the documents was restored and the other
 * may have been written meanwhile. The caller has locked both documents. Units whose source text is gone are deleted,
 * new texts get units, and reviews stay.
 */
export async function resyncUnits(
  { tx, ahead }: { tx: Transaction; ahead: Ahead },
  { source, target }: { source: DocumentRow; target: DocumentRow },
): Promise<void> {
  const key = { workspaceId: target.workspace_id, targetId: target.id }
  const bodies = await bodiesOf(tx, { source, target })
  const { present } = await ahead.result(derivingUnits, { text: bodies.source.text })
  const texts = await ahead.result(hashingTexts, { text: bodies.target.text })
  await queries.lockUnitsOfTarget(tx, key)
  await queries.dropUnitsExcept(tx, { ...key, present })
  await queries.putUnits(tx, { workspaceId: key.workspaceId, targetIds: [key.targetId], present })
  await queries.replaceTargetTexts(tx, { ...key, texts })
}

/**
 * Returns the hashes of all texts of a translation as the JSON text of a list of `TextHash`. A thread calls this
 * function by its name. @public
 */
export function hashesOfTarget({ text }: { text: string }): string {
  const { content } = new StoredBody({ version: '', text }).document
  return JSON.stringify(textBlocks(content).map(({ id, hash }): queries.TextHash => ({ block_id: id, hash })))
}

const hashingTexts = textComputation({ module: import.meta.url, run: hashesOfTarget })
