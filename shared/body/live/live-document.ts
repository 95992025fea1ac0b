import type { Caller } from '../../auth/caller.ts'
import type { Transaction } from '../../database/database.ts'
import { type DocumentRow, lockDocuments } from '../../documents/queries.ts'
import { Refusal } from '../../errors/errors.ts'
import { documentToLines, linesToDocument } from '../canonical.ts'
import { type CommitContext, commitBody } from '../commit.ts'
import { bodyText } from '../queries.ts'
import type { Repair } from '../yjs/repair-nodes.ts'
import { deriveState } from '../yjs/state.ts'
import * as queries from './queries.ts'
import { notifyLive } from './queries.ts'
import { catchUp, foldSession, loadSession, storeSession } from './y-session.ts'

/** What a live replica applies, in order, to be level with the database; it has seen the log up to row `n` then. */
export type LiveUpdates = { updates: Uint8Array[]; n: number }

/**
 * The whole Y document of a document, level with its body, for a live process that opens it. The first time ever it is
 * derived from the body, under the document's row lock, and stored before it is answered: a second derivation would
 * merge with the first one into every block twice. 404 `document_not_found` when the document is gone.
 */
export async function openLive(tx: Transaction, key: queries.DocumentKey): Promise<LiveUpdates> {
  const document = await lockedDocument(tx, key)
  const head = await queries.liveHead(tx, document)
  if (head !== null) return level(tx, { document, head, seen: beforeEverything })
  const state = deriveState(linesToDocument((await bodyText(tx, document)).split('\n')))
  await queries.insertState(tx, { ...document, state })
  return { updates: [state], n: 0 }
}

/**
 * Brings the Y document of a document that is open live level with its body, under the document's row lock: all that
 * the API wrote since becomes one Yjs transaction, whichever process comes first. Answers what the calling replica has
 * not seen yet: that, and what other live processes stored. A process that has typed text pending calls `persistLive`
 * instead, which takes it along when its block moves. 404 `document_not_found` when the document is gone.
 */
export async function syncY(tx: Transaction, input: queries.DocumentKey & { seen: number }): Promise<LiveUpdates> {
  const document = await lockedDocument(tx, input)
  const head = await queries.liveHead(tx, document)
  if (head === null) throw new Error(`The document ${document.id} was never opened live`)
  return level(tx, { document, head, seen: input.seen })
}

const beforeEverything = -1

type Level = { document: DocumentRow; head: queries.LiveHead; seen: number }

async function level(tx: Transaction, { document, head, seen }: Level): Promise<LiveUpdates> {
  if (head.body_seq === document.body_seq && seen >= head.folded_n) {
    const rows = await queries.updatesAfter(tx, { ...document, n: seen })
    return { updates: rows.map(({ update }) => update), n: head.n }
  }
  const session = await loadSession(tx, document)
  await catchUp(tx, { session, document, current: await bodyText(tx, document) })
  await storeSession(tx, { session, document })
  return { updates: session.missedSince(seen), n: session.n }
}

async function lockedDocument(tx: Transaction, key: queries.DocumentKey): Promise<DocumentRow> {
  const [document] = await lockDocuments(tx, { workspaceId: key.workspace_id, documentIds: [key.id] })
  if (document === undefined) throw new Refusal('document_not_found', { details: { id: key.id } })
  return document
}

/** One flush of a live process. */
export type Flush = {
  documentId: string
  /** Who typed, with the memberships of now: rights may have been taken away since the connection was made. */
  caller: Caller
  /** Yjs updates (encoding v1) from browsers that no flush has stored yet, in order of arrival; may be empty. */
  updates: readonly Uint8Array[]
  /** The row of the log up to which the process has seen what is stored. */
  seen: number
}

/** What a flush did, and what the replica has to apply: writes of the API, of other processes, and repairs. */
export type Flushed = LiveUpdates & { document: DocumentRow; changed: boolean; repairs: Repair[] }

/**
 * Stores what people typed, through the same door as every write: same event, same jobs, no snapshot. Typed text is
 * merged before the document follows the body, so that it goes along when its block was moved meanwhile. What the merge
 * left invalid is repaired. The updates are kept also when they make no difference to the body.
 *
 * Refuses with 404 `document_not_found`, 403 `forbidden`, and with 422 `document_too_large` or `invalid_node` when the
 * text does not fit any more. Nothing is stored then: the process keeps the updates and hands them over again.
 */
export async function persistLive(context: CommitContext, flush: Flush): Promise<Flushed> {
  const { tx } = context
  const { document, edited, changed } = await commitBody(context, {
    documentId: flush.documentId,
    caller: flush.caller,
    snapshot: false,
    find: (_, locked) => locked,
    // Images of attachments that do not exist are let be, as in a rollback: there is nobody to refuse them to.
    edit: async (current, locked) => {
      const session = await loadSession(tx, locked)
      session.merge(flush.updates)
      await catchUp(tx, { session, document: locked, current: current.text })
      const { body, repairs } = session.settle(locked.id)
      return { text: documentToLines(body).join('\n'), session, repairs }
    },
  })
  const { session, repairs } = edited
  await storeSession(tx, { session, document })
  // A changed body is announced by the commit; other processes need also the rest of what was logged.
  if (!changed && session.appended.length > 0) await notifyLive(tx, document)
  return { document, changed, repairs, n: session.n, updates: session.missedSince(flush.seen) }
}

/**
 * Folds the log of a document into its Y state, for a process that closes it; a log that grows long meanwhile is folded
 * by whoever appends to it. Deleted text is forgotten, nothing else changes: a replica that has seen less than was
 * folded gets the whole state next time. Does nothing when the document is gone or was never opened live.
 */
export async function compactLive(tx: Transaction, key: queries.DocumentKey): Promise<void> {
  const [document] = await lockDocuments(tx, { workspaceId: key.workspace_id, documentIds: [key.id] })
  const head = document === undefined ? null : await queries.liveHead(tx, key)
  if (head === null || head.n === head.folded_n) return
  await foldSession(tx, { session: await loadSession(tx, key), key })
}
