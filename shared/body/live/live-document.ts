import type { Caller } from '../../auth/caller.ts'
import type { Transaction } from '../../database/database.ts'
import { type DocumentRow, lockDocuments } from '../../documents/queries.ts'
import { Refusal } from '../../errors/errors.ts'
import { documentToLines, linesToDocument } from '../canonical.ts'
import { commitBody } from '../commit.ts'
import type { CommitContext } from '../consequence.ts'
import { bodyText } from '../queries.ts'
import type { Repair } from '../yjs/repair-nodes.ts'
import { deriveState } from '../yjs/state.ts'
import * as queries from './queries.ts'
import { notifyLive } from './queries.ts'
import { catchUpSession, foldSession, loadSession, storeSession } from './y-session.ts'

const beforeEverything = -1

/**
 * A list of Yjs updates, in order, that bring a replica (the copy of a Y document in a live process) level with the
 * database. Afterwards the replica has seen the log up to row `n`.
 */
export type LiveUpdates = { updates: Uint8Array[]; n: number }

/**
 * Opens the Y document of a document for a live process, level with the body. The first call ever derives the Y
 * document from the body, under the row lock of the document, and stores it before answering. Yjs would merge a second
 * derived Y document with the first, and the body would have every block twice. Refuses with 404 `document_not_found`
 * when the document is gone. @internal
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
 * Brings an open Y document level with its body, under the row lock of the document. All writes of the API that the Y
 * document lacks become one Yjs transaction, which the process that calls first makes. Returns the updates that the
 * calling replica has not seen, including those that other live processes stored.
 *
 * A process with pending typed text calls `persistLive` instead, so that the text moves with its block. Refuses with
 * 404 `document_not_found` when the document is gone. @internal
 */
export async function syncY(tx: Transaction, input: queries.DocumentKey & { seen: number }): Promise<LiveUpdates> {
  const document = await lockedDocument(tx, input)
  const head = await queries.liveHead(tx, document)
  if (head === null) throw new Error(`The document ${document.id} was never opened live`)
  return level(tx, { document, head, seen: input.seen })
}

/** A flush that a live process makes: it stores the text typed since the flush before. */
export type Flush = {
  documentId: string
  /**
   * The user who typed, with the present memberships: rights may have been taken away since the connection was made.
   */
  caller: Caller
  /** The Yjs updates (encoding v1) from browsers that no flush has stored yet, in order of arrival; may be empty. */
  updates: readonly Uint8Array[]
  /** The number of the last row of the log that the process has seen. */
  seen: number
}

/**
 * A result of a flush that has the updates which the replica must apply: writes of the API, of other processes, and
 * repairs.
 */
export type Flushed = LiveUpdates & { document: DocumentRow; changed: boolean; repairs: Repair[] }

/**
 * Stores typed text through `commitBody`. As for every write, the event is recorded and jobs are enqueued, but no
 * snapshot is kept. The typed text is merged before the Y document follows the body, so that the text moves with its
 * block. Where the merge leaves an invalid body, the body is repaired. The updates are kept even when they do not
 * change the body.
 *
 * Refuses with 404 `document_not_found`, 403 `forbidden`, and with 422 `document_too_large` or `invalid_node` when the
 * body would exceed its limits. Nothing is stored then. The process keeps the updates and passes them again. @internal
 */
export async function persistLive(context: CommitContext, flush: Flush): Promise<Flushed> {
  const { tx } = context
  const { document, edited, changed } = await commitBody(context, {
    documentId: flush.documentId,
    caller: flush.caller,
    snapshot: false,
    find: (_, locked) => locked,
    // Images of missing attachments stay, as in a rollback. A refusal would reach nobody, because the text was typed
    // earlier.
    edit: async (current, locked) => {
      const session = await loadSession(tx, locked)
      session.merge(flush.updates)
      await catchUpSession(tx, { session, document: locked, current: current.text })
      const { body, repairs } = session.settle(locked.id)
      return { text: documentToLines(body).join('\n'), session, repairs }
    },
  })
  const { session, repairs } = edited
  await storeSession(tx, { session, document })
  // The commit notifies other processes of a changed body. When the body stays the same, they are notified here of the
  // new rows of the log.
  if (!changed && session.appended.length > 0) notifyLive(tx, document)
  return { document, changed, repairs, n: session.n, updates: session.missedSince(flush.seen) }
}

/**
 * Folds the log of a document into its Y state, for a process that closes the document. `storeSession` also folds a log
 * that has grown long. Folding forgets only deleted text. A replica that has seen less than was folded gets the whole
 * state next time. Does nothing when the document is gone or was never opened live. @internal
 */
export async function compactLive(tx: Transaction, key: queries.DocumentKey): Promise<void> {
  const [document] = await lockDocuments(tx, { workspaceId: key.workspace_id, documentIds: [key.id] })
  const head = document === undefined ? null : await queries.liveHead(tx, key)
  if (head === null || head.n === head.folded_n) return
  await foldSession(tx, { session: await loadSession(tx, key), key })
}

type Level = { document: DocumentRow; head: queries.LiveHead; seen: number }

async function level(tx: Transaction, { document, head, seen }: Level): Promise<LiveUpdates> {
  if (head.body_seq === document.body_seq && seen >= head.folded_n) {
    const rows = await queries.updatesAfter(tx, { ...document, n: seen })
    return { updates: rows.map(({ update }) => update), n: head.n }
  }
  const session = await loadSession(tx, document)
  await catchUpSession(tx, { session, document, current: await bodyText(tx, document) })
  await storeSession(tx, { session, document })
  return { updates: session.missedSince(seen), n: session.n }
}

async function lockedDocument(tx: Transaction, key: queries.DocumentKey): Promise<DocumentRow> {
  const [document] = await lockDocuments(tx, { workspaceId: key.workspace_id, documentIds: [key.id] })
  if (document === undefined) throw new Refusal('document_not_found', { details: { id: key.id } })
  return document
}
