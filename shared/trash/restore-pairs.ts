import type { Ahead } from '../computations/ahead.ts'
import type { Transaction } from '../database/database.ts'
import { lockDocuments } from '../documents/queries.ts'
import { resyncUnits } from '../localization/units/resync.ts'
import type { KeptTable } from './kept-table.ts'
import * as queries from './queries.ts'

/*
 * The units of a translation belong to the translation and to its source document. They can only be restored when both
 * exist. So they wait in the entry of the document that is still missing.
 */

/**
 * Locks the existing documents whose units are in an entry, in id order, and then what `lock` locks. Documents that are
 * restored by somebody else before `lock` has its locks are locked afterwards.
 */
export async function lockEndsOfPairs(tx: Transaction, key: queries.EntryKey, lock: () => Promise<unknown>) {
  const workspaceId = key.workspace_id
  const documentIds = existing(await queries.pairsOfEntry(tx, key))
  if (documentIds.length > 0) await lockDocuments(tx, { workspaceId, documentIds })
  await lock()
  const others = existing(await queries.pairsOfEntry(tx, key)).filter((id) => !documentIds.includes(id))
  if (others.length > 0) await lockDocuments(tx, { workspaceId, documentIds: others })
}

function existing(pairs: readonly queries.KeptPair[]): string[] {
  return pairs.flatMap(({ target_id, source_id, target_exists, source_exists }) => [
    ...(target_exists ? [target_id] : []),
    ...(source_exists ? [source_id] : []),
  ])
}

type PairsContext = { tx: Transaction; ahead: Ahead; consequences: { kept: readonly KeptTable[] } }

type RestoredPairs = {
  entry: queries.EntryKey
  contents: Pick<queries.Contents, 'set_ids'>
  /** Documents that have left their document set, and so have no units any more. */
  left: readonly string[]
}

/**
 * Restores the units of an entry whose documents have been restored, and brings those up to date whose other document
 * was written meanwhile. Units whose other document is in the trash move to its entry. Returns whether units were
 * dropped, because the other document was purged or the two are in no document set together.
 */
export async function restorePairs(
  context: PairsContext,
  { entry: key, contents, left }: RestoredPairs,
): Promise<boolean> {
  if (contents.set_ids.length === 0) return false
  const { tx, ahead, consequences } = context
  const workspaceId = key.workspace_id
  const pairs = await queries.pairsOfEntry(tx, key)
  const isWhole = ({ target_id, source_id, target_exists, source_exists }: queries.KeptPair) =>
    target_exists && source_exists && !left.includes(target_id) && !left.includes(source_id)
  const tables = consequences.kept.filter((kept) => 'ofTranslation' in kept)
  const broken = pairs.filter((pair) => !isWhole(pair))
  let dropped = false
  if (broken.length > 0) {
    const entryIds = await queries.holdEntries(tx, {
      workspaceId,
      entryIds: broken.flatMap(({ entry_id: id }) => id ?? []),
    })
    const waiting = broken.map(({ target_id: targetId, entry_id: id }) => {
      return { targetId, entryId: id !== null && entryIds.includes(id) ? id : null }
    })
    dropped = waiting.some(({ entryId }) => entryId === null)
    await queries.divertPairs(tx, { key, pairs: waiting, tables })
  }
  while (await queries.restoreSlice(tx, { key, tables, places: {} }));
  const outdated = pairs.filter((pair) => isWhole(pair) && !pair.is_current)
  for (const { target_id, source_id } of outdated) {
    const documents = await lockDocuments(tx, { workspaceId, documentIds: [target_id, source_id] })
    const target = documents.find(({ id }) => id === target_id)
    const source = documents.find(({ id }) => id === source_id)
    if (source !== undefined && target !== undefined) await resyncUnits({ tx, ahead }, { source, target })
  }
  return dropped
}
