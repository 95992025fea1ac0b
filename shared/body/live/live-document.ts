import * as Y from 'yjs'
import { onTheSpot } from '../../computations/ahead.ts'
import { compute } from '../../computations/compute.ts'
import { type Database, inTransaction, type Transaction } from '../../database/database.ts'
import { type DocumentLocator, type DocumentRow, lockDocument } from '../../documents/queries.ts'
import { documentNotFound } from '../../documents/require.ts'
import { Refusal } from '../../errors/errors.ts'
import { changeBody } from '../change.ts'
import type { CommitContext } from '../consequence.ts'
import { dropUnusedBodies } from '../queries.ts'
import { storeChange } from '../store-change.ts'
import type { Repair } from '../yjs/repair-nodes.ts'
import { mergeUpdates } from '../yjs/state.ts'
import { folding } from './derive.ts'
import * as queries from './queries.ts'
import { LiveReplica, type Shadow, type ShadowPosition } from './replica.ts'

/** What a live process needs to follow and to store documents. */
export type LiveContext = Omit<CommitContext, 'tx' | 'ahead'> & { database: Database }

/**
 * Opens the Y document of a document for a live process, level with the body. The first call ever derives the Y
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
 * Brings an open Y document level with its body. All writes of the API that the Y document lacks become one step, which
 * the process that calls first makes under the row lock of the document. Returns the updates that the document of the
 * editors lacks, including those that other processes stored. A process with pending typed text calls `persistLive`
 * instead, so that the text moves with its block. Refuses with 404 `document_not_found` when the document is gone.
 */
export function syncLive(
  { database }: Pick<LiveContext, 'database'>,
  { replica }: { replica: LiveReplica },
): Promise<{ updates: Uint8Array[] }> {
  return replica.alone(async () => {
    const isLevel = await replica.repeatedly(database, async (shadow) => {
      const moves = found(await queries.liveMoves(database, seenBy(replica, shadow)), replica)
      replica.take(shadow, moves)
      return moves.current_seq === moves.followed_seq
    })
    if (!isLevel) await replica.inTransaction(database, (tx, shadow) => followCurrent(tx, { replica, shadow }))
    return { updates: replica.told() }
  })
}

/** A flush that a live process makes: it stores the text typed since the flush before. */
export type Flush = {
  replica: LiveReplica
  /** The Yjs updates (encoding v1) that no flush has stored yet, in order of arrival; may be empty. */
  updates: readonly Uint8Array[]
  /** The user who typed last. */
  caller: { userId: string }
  /**
   * The states that the history of the document keeps as versions: the state before the typed text, the state after it,
   * or both. A state that the newest version already has is not kept again.
   */
  version: 'none' | 'before' | 'after' | 'both'
}

/** A result of a flush. */
export type Flushed = {
  /** What the document of the editors lacks: writes of the API, text of other processes, and repairs. */
  updates: Uint8Array[]
  document: DocumentRow
  /** Whether the flush changed the body. */
  changed: boolean
  repairs: Repair[]
  /** The Yjs state vector of what is stored now. */
  stateVector: Uint8Array
}

/**
 * Stores typed text. As for every write of a body, the event is recorded and jobs are enqueued. The typed text is
 * merged before the Y document follows the body, so that the text moves with its block. Where the merge leaves an
 * invalid body, the body is repaired. The updates are kept even when they do not change the body.
 *
 * The rights of the user are not read again: text that a process accepted while the user might write is stored. Images
 * of missing attachments stay, because a refusal would reach nobody. Refuses with 404 `document_not_found`, and with 422
 * `document_too_large` or `invalid_node` when the body or the Y document would exceed its limits. Nothing is stored
 * then. The process keeps the updates and passes them again.
 */
export function persistLive(context: LiveContext, flush: Flush): Promise<Flushed> {
  const { replica } = flush
  return replica.alone(async () => {
    const flushed = await replica.inTransaction(context.database, (tx, shadow) =>
      store({ ...context, tx }, flush, shadow),
    )
    return { ...flushed, updates: replica.told() }
  })
}

/**
 * Folds the log of a document into its Y state, for a process that closes the document or whose log is long. The new
 * state is encoded in a thread while no lock is held. Does nothing when the document is gone or its log is empty.
 */
export async function compactLive(
  { database }: Pick<LiveContext, 'database'>,
  { replica }: { replica: LiveReplica },
): Promise<void> {
  const { key } = replica
  const log = await queries.unfoldedLog(database, key)
  if (log === null) return
  const state = await compute(folding, log)
  await inTransaction(database, async (tx) => {
    if ((await lockDocument(tx, locatorOf(key))) !== null) queries.foldLog(tx, { ...key, state, n: log.n })
  })
}

type Following = { replica: LiveReplica; shadow: Shadow }

async function followCurrent(tx: Transaction, { replica, shadow }: Following) {
  const [, moves] = await Promise.all([
    lock(tx, replica.key),
    queries.lockedMoves(tx, seenBy(replica, shadow)).then((read) => found(read, replica)),
  ])
  replica.take(shadow, moves)
  const before = shadow.position
  const updates = await follow(shadow, moves)
  const stored = appended(before, { moves, updates, bodyBytes: bytesOf(moves, before) })
  queries.advance(tx, { ...replica.key, n: before.n, updates, body_seq: stored.bodySeq })
  dropUnusedBodies(tx, { ...replica.key, bodySeqs: [before.bodySeq] })
  return { stored, untold: updates, result: undefined }
}

async function store(context: Omit<CommitContext, 'ahead'>, flush: Flush, shadow: Shadow) {
  const { tx, config } = context
  const { replica, caller } = flush
  const [document, facts] = await Promise.all([
    lock(tx, replica.key),
    queries.flushFacts(tx, { ...seenBy(replica, shadow), ...caller }).then((read) => found(read, replica)),
  ])
  replica.take(shadow, facts)
  const before = shadow.position
  shadow.isAhead = true
  const pending = flush.updates.length === 0 ? [] : [mergeUpdates(flush.updates)]
  const typed = pending.filter((update) => shadow.body.apply(update))
  const followed = await follow(shadow, facts)
  const from = shadow.body.lines
  const n = before.n + typed.length + followed.length
  const { lines, repairs, updates: repaired } = await shadow.body.settle(`${replica.key.id}@${n}`)
  const texts = { from: from.join('\n'), to: lines.join('\n') }
  const change = texts.from === texts.to ? null : changeBody(texts)
  const size = bytesOf(facts, before)
  const updates = [...typed, ...followed, ...repaired]
  requireRoom(facts.stored_bytes + sizeOf(typed), config.DOCUMENT_MAX_BYTES)
  const after = await storeChange(
    { ...context, ahead: onTheSpot },
    {
      before: document,
      locked: { ...facts, is_live: true },
      change,
      texts,
      text: texts.to,
      size,
      userId: facts.author,
      snapshots: snapshotsOf(flush.version, { isKept: facts.is_kept, isChanged: change !== null }),
    },
  )
  const moves = { folded_n: facts.folded_n, current_seq: after.body_seq }
  const stored = appended(before, { moves, updates, bodyBytes: change?.bytes ?? size })
  if (updates.length > 0 || stored.bodySeq !== before.bodySeq) {
    queries.advance(tx, { ...replica.key, n: before.n, updates, body_seq: stored.bodySeq })
    dropUnusedBodies(tx, { ...replica.key, bodySeqs: [before.bodySeq, document.body_seq] })
  }
  // The commit notifies other processes of a changed body. When the body stays the same, they are notified here of the
  // new rows of the log.
  if (change === null && updates.length > 0) queries.notifyLive(tx, after)
  const result = { document: after, changed: change !== null, repairs, stateVector: Y.encodeStateVector(shadow.doc) }
  return { stored, untold: [...followed, ...repaired], result }
}

// Brings the shadow from the body that the Y document follows to the current body. Returns the updates.
async function follow(shadow: Shadow, moves: queries.LockedMoves): Promise<Uint8Array[]> {
  if (moves.current === null) return []
  shadow.isAhead = true
  return shadow.body.follow(moves.current.split('\n'))
}

type Appended = {
  moves: { folded_n: number; current_seq: number }
  updates: readonly Uint8Array[]
  bodyBytes: number
}

function appended(before: ShadowPosition, { moves, updates, bodyBytes }: Appended): ShadowPosition {
  return {
    n: before.n + updates.length,
    foldedN: moves.folded_n,
    bodySeq: moves.current_seq,
    bodyBytes,
  }
}

function bytesOf({ current }: queries.LockedMoves, before: ShadowPosition): number {
  return current === null ? before.bodyBytes : Buffer.byteLength(current)
}

function snapshotsOf(version: Flush['version'], { isKept, isChanged }: { isKept: boolean; isChanged: boolean }) {
  const before = isChanged && !isKept && (version === 'before' || version === 'both')
  const after = (isChanged || !isKept) && (version === 'after' || version === 'both')
  return [...(before ? (['before'] as const) : []), ...(after ? (['after'] as const) : [])]
}

async function lock(tx: Transaction, key: queries.DocumentKey): Promise<DocumentRow> {
  const document = await lockDocument(tx, locatorOf(key))
  if (document === null) throw documentNotFound(key.id)
  return document
}

function locatorOf({ workspace_id, id }: queries.DocumentKey): DocumentLocator {
  return { documentId: id, workspaceIds: [workspace_id] }
}

function found<T>(moves: T | null, { key }: LiveReplica): T {
  if (moves === null) throw documentNotFound(key.id)
  return moves
}

function seenBy({ key }: LiveReplica, { n, bodySeq }: Shadow): queries.Seen {
  return { ...key, n, body_seq: bodySeq }
}

function sizeOf(updates: readonly Uint8Array[]): number {
  return updates.reduce((sum, { length }) => sum + length, 0)
}

// How many times larger than the largest body a stored Y document may be.
const roomFactor = 8

function requireRoom(actual: number, maximumBytes: number): void {
  const limit = roomFactor * maximumBytes
  if (actual > limit) throw new Refusal('document_too_large', { details: { limit, actual, unit: 'bytes' } })
}
