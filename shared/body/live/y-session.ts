import * as Y from 'yjs'
import type { Transaction } from '../../database/database.ts'
import type { DocumentRow } from '../../documents/queries.ts'
import type { BlockNode, DocNode } from '../document.ts'
import { normaliseDocument } from '../normalise.ts'
import { bodyText, dropUnusedBody } from '../queries.ts'
import { bodyFragment, readDocument } from '../yjs/encoding.ts'
import { repairDocument } from '../yjs/repair.ts'
import type { Repair } from '../yjs/repair-nodes.ts'
import { followInto, mergeUpdates, openState } from '../yjs/state.ts'
import * as queries from './queries.ts'

// The most rows that a log has before they are folded into the state. 200 rows replay in a few milliseconds. Writing a
// large state costs more.
const longestLog = 200

/**
 * A session that holds the stored Y document of a document in memory for one transaction, which has locked the
 * document's row. The session collects the updates for the end of the log, and the caller stores them. After a failed
 * transaction the session must not be used again. It counts updates as logged that the rollback has undone.
 */
export class YSession {
  readonly #stored: queries.LiveState
  readonly #log: readonly queries.LoggedUpdate[]
  readonly #doc: Y.Doc
  readonly #appended: Uint8Array[] = []
  // The appended updates that the browsers do not know yet.
  readonly #answers: Uint8Array[] = []

  constructor(stored: queries.LiveState, log: readonly queries.LoggedUpdate[]) {
    this.#stored = stored
    this.#log = log
    this.#doc = openState(stored.state, ...log.map(({ update }) => update))
  }

  /** The stored position of the log at the start of the session. */
  get stored(): Readonly<Omit<queries.LiveState, 'state'>> {
    return this.#stored
  }

  /** The updates to append to the log, in order. */
  get appended(): readonly Uint8Array[] {
    return this.#appended
  }

  /** The number of the newest row of the log after the append. */
  get n(): number {
    return this.#stored.n + this.#appended.length
  }

  /** The whole document as one state, for folding the log. */
  get state(): Uint8Array {
    return Y.encodeStateAsUpdate(this.#doc)
  }

  /**
   * The updates that a replica lacks when it has seen the log up to row `seen`. The updates that the replica itself
   * sent in this session are left out.
   */
  missedSince(seen: number): Uint8Array[] {
    const state = seen < this.#stored.folded_n ? [this.#stored.state] : []
    const rows = this.#log.flatMap(({ n, update }) => (n > seen ? [update] : []))
    return [...state, ...rows, ...this.#answers]
  }

  /** Takes in the text that was typed since the last flush, as one row of the log. */
  merge(updates: readonly Uint8Array[]): void {
    if (updates.length === 0) return
    const update = mergeUpdates(updates)
    Y.applyUpdate(this.#doc, update)
    this.#appended.push(update)
  }

  /**
   * Brings the Y document from the body that it follows (`from`) to another body (`to`) in one Yjs transaction. Both
   * bodies are stored lines.
   */
  follow(from: readonly string[], to: readonly string[]): void {
    this.#answer(followInto(this.#doc, parsedTogether(from, to)))
  }

  /**
   * Returns the body of the document in normal form. Where a live merge has left an invalid body, the body and the Y
   * document are repaired. The new ids follow from the id of the document and the position of the log, which never
   * occurs twice.
   */
  settle(documentId: string): { body: DocNode; repairs: Repair[] } {
    const raw = readDocument(bodyFragment(this.#doc)).document
    const { document, repairs } = repairDocument(raw, `${documentId}@${this.n}`)
    if (repairs.length > 0) this.#answer(followInto(this.#doc, { from: raw, to: document }))
    return { body: normaliseDocument(document, { from: 'json' }).result, repairs }
  }

  #answer(update: Uint8Array | null): void {
    if (update === null) return
    this.#appended.push(update)
    this.#answers.push(update)
  }
}

/** Opens the stored Y document of a locked document. Throws when `openLive` has not made it before. */
export async function loadSession(tx: Transaction, key: queries.DocumentKey): Promise<YSession> {
  const stored = await queries.liveState(tx, key)
  if (stored === null) throw new Error(`The document ${key.id} was never opened live`)
  return new YSession(stored, await queries.updatesAfter(tx, { ...key, n: stored.folded_n }))
}

/**
 * Brings the Y document of a session from the body that it follows to the current body. `current` is the stored text of
 * the current body. Stores nothing.
 */
export async function catchUpSession(
  tx: Transaction,
  input: { session: YSession; document: DocumentRow; current: string },
): Promise<void> {
  const { session, document, current } = input
  const { body_seq } = session.stored
  if (body_seq === document.body_seq) return
  const from = await bodyText(tx, { ...document, body_seq })
  session.follow(from.split('\n'), current.split('\n'))
}

/**
 * Stores the updates of a session, whose Y document follows the document's current body now. Drops the body that the Y
 * document followed before. A long log is folded into the state, because everybody who opens the document replays it.
 */
export async function storeSession(
  tx: Transaction,
  { session, document }: { session: YSession; document: queries.DocumentKey & { body_seq: number } },
): Promise<void> {
  const { workspace_id, id, body_seq } = document
  const { stored, appended } = session
  if (appended.length > 0 || stored.body_seq !== body_seq) {
    await queries.advance(tx, { workspace_id, id, body_seq, n: stored.n, updates: appended })
  }
  if (stored.body_seq !== body_seq) dropUnusedBody(tx, { workspace_id, id, body_seq: stored.body_seq })
  if (session.n - stored.folded_n > longestLog) await foldSession(tx, { session, key: document })
}

/**
 * Replaces the stored state by the whole document of a session, and deletes the log. The updates of the session must be
 * stored before.
 */
export async function foldSession(
  tx: Transaction,
  { session, key }: { session: YSession; key: queries.DocumentKey },
): Promise<void> {
  const { workspace_id, id } = key
  await queries.foldLog(tx, { workspace_id, id, n: session.n, state: session.state })
}

// A line that both bodies have is parsed once. Both trees then share one object, so comparing the block costs nothing.
function parsedTogether(from: readonly string[], to: readonly string[]): { from: DocNode; to: DocNode } {
  const parsed = new Map(from.map((line) => [line, JSON.parse(line) as BlockNode]))
  const body = (lines: readonly string[]): DocNode => ({
    type: 'doc',
    content: lines.map((line) => parsed.get(line) ?? (JSON.parse(line) as BlockNode)),
  })
  return { from: body(from), to: body(to) }
}
