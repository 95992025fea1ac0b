import type { Transaction } from '../../database/database.ts'
import { type DocumentRow, lockDocuments } from '../../documents/queries.ts'
import { Refusal } from '../../errors/errors.ts'
import { linesToDocument } from '../canonical.ts'
import { bodyText } from '../queries.ts'
import { deriveState } from '../yjs/state.ts'
import * as queries from './queries.ts'
import { catchUp, loadFollower, storeFollower } from './stored-follower.ts'

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
  const follower = await loadFollower(tx, document)
  await catchUp(tx, { follower, document, current: await bodyText(tx, document) })
  await storeFollower(tx, { follower, document })
  return { updates: follower.missedSince(seen), n: follower.n }
}

async function lockedDocument(tx: Transaction, key: queries.DocumentKey): Promise<DocumentRow> {
  const [document] = await lockDocuments(tx, { workspaceId: key.workspace_id, documentIds: [key.id] })
  if (document === undefined) throw new Refusal('document_not_found', { details: { id: key.id } })
  return document
}
