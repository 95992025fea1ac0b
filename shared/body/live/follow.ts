import type { Transaction } from '../../database/database.ts'
import { lockedMoves } from './moves.ts'
import * as queries from './queries.ts'
import { found, type LiveReplica, type Stored } from './replica.ts'
import type { Shadow } from './shadow.ts'

/**
 * Brings a shadow and the stored Y document from the body that they follow to the current body of the document. Locks
 * the document first.
 */
export async function followCurrent(
  tx: Transaction,
  { replica, shadow }: { replica: LiveReplica; shadow: Shadow },
): Promise<Stored<void>> {
  const { key } = replica
  await queries.lock(tx, key)
  const moves = found(await lockedMoves(tx, { ...key, ...shadow.seen }), key)
  await replica.take(shadow, moves)
  await shadow.follow(moves)
  const document = { body_seq: moves.current_seq, version: moves.version }
  await storeAppended(tx, { key, shadow, bodySeq: document.body_seq })
  return { document, result: undefined }
}

/**
 * Appends to the log what the shadow has appended, and records that the Y document follows the body `bodySeq` now.
 * Drops the body that it followed before, unless somebody else needs that body. A `notification` tells collab
 * processes of the change.
 */
export async function storeAppended(
  tx: Transaction,
  stored: { key: queries.DocumentKey; shadow: Shadow; bodySeq: number; notification?: string },
): Promise<void> {
  const { key, shadow, bodySeq, ...others } = stored
  const { appended, position } = shadow
  if (appended.length === 0 && bodySeq === position.bodySeq) return
  const earlier = bodySeq === position.bodySeq ? [] : [position.bodySeq, bodySeq - 1]
  await queries.advance(tx, { ...key, n: position.n, updates: appended, body_seq: bodySeq, earlier, ...others })
}
