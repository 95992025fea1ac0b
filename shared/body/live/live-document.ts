import { compute } from '../../computations/compute.ts'
import { type Database, inTransaction } from '../../database/database.ts'
import { Refusal } from '../../errors/errors.ts'
import type { CommitContext } from '../consequence.ts'
import { cutting, folding } from '../yjs/computations.ts'
import { type Flush, NoRoom, type StoredText, storeTyped } from './flush.ts'
import { followCurrent } from './follow.ts'
import { liveMoves } from './moves.ts'
import * as queries from './queries.ts'
import { found, LiveReplica, lockedDocument } from './replica.ts'
import { sizeOf, smallText } from './shadow.ts'

export type { Flush } from './flush.ts'

/** What a collab process needs to follow and to store documents. */
export type LiveContext = Omit<CommitContext, 'tx' | 'ahead'> & { database: Database }

/**
 * Opens the Y document of a document for a collab process, level with the body. The first call ever derives the Y
 * document from the body. Returns the replica, and updates that make an empty Y document equal to the stored document.
 * Refuses with 404 `document_not_found` when the document is gone.
 */
export async function openLive(
  context: Pick<LiveContext, 'database'>,
  key: queries.DocumentKey,
): Promise<{ replica: LiveReplica; updates: Uint8Array[] }> {
  const replica = new LiveReplica(key)
  const { updates } = await syncLive(context, { replica })
  return { replica, updates }
}

/**
 * Brings an open Y document level with its body. All writes of the API that the Y document lacks become one step. The
 * process that calls first makes the step under the row lock of the document. Returns the updates that the live
 * document lacks, including updates that other processes stored. Takes no lock when everything is level. When it
 * `isBehind`, which a notification tells, takes the lock without a look before.
 *
 * A process with pending typed text calls `persistLive` instead, so that the text moves with its block. Refuses with
 * 404 `document_not_found` when the document is gone.
 */
export function syncLive(
  { database }: Pick<LiveContext, 'database'>,
  { replica, isBehind = false }: { replica: LiveReplica; isBehind?: boolean },
): Promise<{ updates: Uint8Array[] }> {
  const look = () =>
    replica.repeatedly(database, async (shadow) => {
      const moves = found(await liveMoves(database, { ...replica.key, ...shadow.seen }), replica.key)
      await replica.take(shadow, moves)
      return moves.current_seq === moves.followed_seq && !shadow.seen.isDoubtful
    })
  return replica.alone(async () => {
    const isLevel = !isBehind && (await look())
    if (!isLevel) await replica.inTransaction(database, (tx, shadow) => followCurrent(tx, { replica, shadow }))
    return { updates: replica.told() }
  })
}

/**
 * A result of a flush. `updates` is what the live document lacks: writes of the API, text of other processes,
 * and repairs.
 */
export type Flushed = StoredText & { updates: Uint8Array[] }

/**
 * Stores typed text. As for every write of a body, the event is recorded and jobs are enqueued. The typed text is
 * merged before the Y document follows the body, so that the text moves with its block. Where the merge leaves an
 * invalid body, the body is repaired. The updates are kept even when they do not change the body.
 *
 * The rights of the user are not read again: text that a process accepted while the user might write is stored. Images
 * of missing attachments stay, because a refusal would reach nobody.
 *
 * Refuses with 404 `document_not_found`. Refuses with 422 `document_too_large` or `invalid_node` when the body or the Y
 * document would exceed its limits. Nothing is stored then. The process keeps the updates and passes them again.
 */
export function persistLive(context: LiveContext, flush: Flush): Promise<Flushed> {
  const { replica } = flush
  return replica.alone(async () => {
    const updates =
      sizeOf(flush.updates) > smallText ? await compute(cutting, { updates: flush.updates }) : flush.updates
    const small = { ...flush, updates }
    const store = () =>
      replica.inTransaction(context.database, (tx, shadow) => storeTyped({ ...context, tx }, { flush: small, shadow }))
    const flushed = await store().catch(async (error) => {
      if (!(error instanceof NoRoom)) throw error
      await compactLive(context, { replica })
      return store()
    })
    return { ...flushed, updates: replica.told() }
  })
}

/**
 * Folds the log of a document into its Y state, for a process that closes the document or whose log is long. The new
 * state is encoded in a thread while no lock is held. Does nothing when the document is gone or its log is empty.
 */
export async function compactLive(
  { database }: Pick<LiveContext, 'database'>,
  { replica }: { replica: Pick<LiveReplica, 'key'> },
): Promise<void> {
  const { key } = replica
  const log = await queries.unfoldedLog(database, key)
  if (log === null) return
  const state = await compute(folding, { updates: [log.state, ...log.updates] })
  await inTransaction(database, async (tx) => {
    await lockedDocument(tx, key)
    await queries.foldLog(tx, { ...key, state, n: log.n })
  }).catch(unlessDeleted)
}

function unlessDeleted(error: unknown): void {
  if (!(error instanceof Refusal && error.code === 'document_not_found')) throw error
}
