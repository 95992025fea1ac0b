import { onTheSpot } from '../../computations/ahead.ts'
import type { DocumentRow } from '../../documents/queries.ts'
import { Refusal } from '../../errors/errors.ts'
import { cutText } from '../../schema/strings.ts'
import { topBlockId } from '../block-lines.ts'
import type { TwoTexts } from '../change.ts'
import { type Storing, storeChange } from '../commit.ts'
import type { CommitContext } from '../consequence.ts'
import type { BlockNode } from '../document.ts'
import { plainText } from '../text.ts'
import type { LineWindow } from '../versioned-lines.ts'
import type { FollowingBody } from '../yjs/following-body.ts'
import type { Repair } from '../yjs/repair-nodes.ts'
import { storeAppended } from './follow.ts'
import { flushFacts } from './moves.ts'
import { notificationOf } from './notifications.ts'
import { found, type LiveReplica, lockedDocument, type Stored } from './replica.ts'
import { type Shadow, sizeOf } from './shadow.ts'

/** A flush that a collab process makes: it stores the text typed since the flush before. */
export type Flush = {
  replica: LiveReplica
  /** The Yjs updates (encoding v1) that no flush has stored yet, in order of arrival; may be empty. */
  updates: readonly Uint8Array[]
  /** The user who typed last. */
  caller: { userId: string }
  /**
   * The state that the history of the document keeps as a version: the state before the typed text, or the state after
   * it. A state that the newest version already has is not kept again.
   */
  version: 'none' | 'before' | 'after'
}

/** What a flush has stored. */
export type StoredText = {
  document: DocumentRow
  /** Whether the flush changed the body. */
  changed: boolean
  repairs: Repair[]
}

/** Thrown when the stored Y document has no room for the typed text; after its log was folded, it may have room. */
export class NoRoom extends Refusal {
  constructor(details: { limit: number; actual: number }) {
    super('document_too_large', { details: { ...details, unit: 'bytes' } })
  }
}

/**
 * A block that keeps a body from being stored: the longest of those that have changed. `block_id` is null for a block
 * that no stored body has, and `text` is the beginning of its text.
 */
export type LongestChange = { block_id: string | null; text: string }

/** Thrown when a body is refused for what it holds. */
export class RefusedBody extends Refusal {
  readonly block: LongestChange

  constructor({ code, details }: Refusal, block: LongestChange) {
    super(code, { details: details ?? {} })
    this.block = block
  }
}

/**
 * Stores the typed text of a flush under the row lock of the document. Throws `NoRoom`, and refuses as `persistLive`
 * does, and then throws `RefusedBody`.
 */
export async function storeTyped(
  context: Omit<CommitContext, 'ahead'>,
  { flush, shadow }: { flush: Flush; shadow: Shadow },
): Promise<Stored<StoredText>> {
  const { tx, config } = context
  const { replica, caller, updates, version } = flush
  const { key } = replica
  const before = await lockedDocument(tx, key)
  const facts = found(await flushFacts(tx, { ...key, ...shadow.seen, userId: caller.userId }), key)
  await replica.take(shadow, facts)
  await shadow.merge(updates)
  requireRoom(shadow, config.DOCUMENT_MAX_BYTES)
  const hasFollowed = await shadow.follow(facts)
  const { change, windows, repairs } = await shadow.settle()
  const snapshot = snapshotOf(version, { isKept: facts.is_kept, isChanged: change !== null })
  const document = await storeChange(
    { ...context, ahead: onTheSpot },
    {
      before,
      // A flush tells collab processes itself, also of text that leaves the body as it was.
      locked: { ...facts, is_live: false },
      change,
      texts: changedTexts(windows),
      text: textOf(shadow.body, windows),
      size: change?.bytesBefore ?? shadow.body.bytes,
      userId: facts.author,
      snapshot,
    },
  ).catch((error: unknown) => {
    const block = longestOf(windows)
    throw error instanceof Refusal && error.status === 422 && block !== null ? new RefusedBody(error, block) : error
  })
  const { body_seq: bodySeq } = document
  const n = shadow.position.n + shadow.appended.length
  const byTyping = !hasFollowed && repairs.length === 0
  await storeAppended(tx, {
    key,
    shadow,
    bodySeq,
    notification: notificationOf({ documentId: key.id, bodySeq, n, byTyping }),
  })
  return { document, result: { document, changed: change !== null, repairs } }
}

function longestOf(windows: readonly LineWindow[]): LongestChange | null {
  const lines = windows.flatMap(({ added }) => added)
  if (lines.length === 0) return null
  const line = lines.reduce((longest, other) => (other.length > longest.length ? other : longest))
  const id = topBlockId(line)
  const isStored = windows.some(({ removed }) => removed.some((old) => topBlockId(old) === id))
  return { block_id: isStored ? id : null, text: cutText(plainText(JSON.parse(line) as BlockNode), shownCharacters) }
}

const shownCharacters = 60

// How many times larger than the largest body a stored Y document may be.
const roomFactor = 8

// Refuses typed text that would make the stored Y document too large. Writes of the API are never refused here.
function requireRoom({ position, appended }: Shadow, maximumBytes: number): void {
  const limit = roomFactor * maximumBytes
  const actual = position.stateBytes + position.logBytes + sizeOf(appended)
  if (appended.length > 0 && actual > limit) throw new NoRoom({ limit, actual })
}

// The most bytes of a body that is sent as a whole, because sending costs less than splicing.
const smallBody = 32 * 1024

// The text of a changed body for the database. A change that is nearly as large as the body is no splice.
function textOf(body: FollowingBody, windows: readonly LineWindow[]): Storing['text'] {
  if (body.bytes <= smallBody) return body.text
  const splices = body.splicesOf(windows)
  const added = splices.reduce((sum, splice) => sum + splice.added.length, 0)
  return added > body.bytes / 4 ? body.text : splices
}

function changedTexts(windows: readonly LineWindow[]): TwoTexts {
  return {
    from: windows.flatMap(({ removed }) => removed).join('\n'),
    to: windows.flatMap(({ added }) => added).join('\n'),
  }
}

function snapshotOf(
  version: Flush['version'],
  { isKept, isChanged }: { isKept: boolean; isChanged: boolean },
): Storing['snapshot'] {
  if (version === 'before') return isChanged && !isKept ? 'before' : null
  return version === 'after' && (isChanged || !isKept) ? 'after' : null
}
