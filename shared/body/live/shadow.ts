import * as Y from 'yjs'
import type { DocumentRow } from '../../documents/queries.ts'
import { Refusal } from '../../errors/errors.ts'
import type { Repair } from '../yjs/repair-nodes.ts'
import { mergeUpdates } from '../yjs/state.ts'
import type * as queries from './queries.ts'
import { FollowingBody } from './whole-body.ts'

/**
 * A position of a shadow in the database: the newest row of the log, the newest row that is folded into the state, the
 * body that the Y document follows, and the version of the current body. The sizes of the stored state and of the log
 * are in bytes.
 */
export type ShadowPosition = {
  n: number
  foldedN: number
  bodySeq: number
  version: string
  stateBytes: number
  logBytes: number
}

/** What a settled shadow holds: the lines of the body, and how the body was repaired. */
export type Settled = { lines: readonly string[]; repairs: Repair[] }

/**
 * The shadow of a replica while it is loaded: the Y document exactly as it is stored, with the lines of the body that
 * it follows. A transaction merges, follows and settles, stores what the shadow has `appended`, and then tells the
 * shadow of its commit. When the transaction fails, the shadow is ahead of the database and must not be used again.
 */
export class Shadow {
  readonly #body: FollowingBody
  #position: ShadowPosition
  #appended: Uint8Array[] = []
  // The appended updates that the editors do not know yet.
  #answers: Uint8Array[] = []
  #isAhead = false

  private constructor(body: FollowingBody, position: ShadowPosition) {
    this.#body = body
    this.#position = position
  }

  /** Makes the shadow of a stored Y document. */
  static async open(stored: queries.StoredLive & queries.StoredState): Promise<Shadow> {
    const { state, updates, n, folded_n: foldedN, body_seq: bodySeq, version } = stored
    const body = await FollowingBody.open([state, ...updates], stored.body.split('\n'))
    return new Shadow(body, { n, foldedN, bodySeq, version, stateBytes: state.length, logBytes: sizeOf(updates) })
  }

  /** Where the shadow stands in the database. */
  get position(): Readonly<ShadowPosition> {
    return this.#position
  }

  /** The position as the statements that read the moves of others need it. */
  get seen(): { n: number; body_seq: number } {
    return { n: this.#position.n, body_seq: this.#position.bodySeq }
  }

  /** The lines of the body that the Y document follows. */
  get lines(): readonly string[] {
    return this.#body.lines
  }

  /** The updates to append to the log, in order. */
  get appended(): readonly Uint8Array[] {
    return this.#appended
  }

  /** Whether the Y document may hold more than is stored. */
  get isAhead(): boolean {
    return this.#isAhead
  }

  /** The Yjs state vector of the Y document. */
  get stateVector(): Uint8Array {
    return Y.encodeStateVector(this.#body.doc)
  }

  /**
   * Takes in the rows of others, and the body that they brought the Y document to. Returns the rows. Throws `Outdated`
   * when the rows are not those after the rows of the shadow.
   */
  take(moves: queries.LiveMoves): Uint8Array[] {
    const { n, folded_n: foldedN, updates, followed_seq: bodySeq, followed, version } = moves
    if (foldedN > this.#position.n || n < this.#position.n) throw new Outdated()
    for (const update of updates) this.#body.apply(update)
    if (followed !== null) this.#body.stand(followed.split('\n'))
    this.#position = { n, foldedN, bodySeq, version, stateBytes: moves.state_bytes, logBytes: moves.log_bytes }
    return updates
  }

  /** Takes in the text that was typed since the last flush, as one row of the log. Skips text that is stored already. */
  merge(updates: readonly Uint8Array[]): void {
    if (updates.length === 0) return
    this.#isAhead = true
    const update = mergeUpdates(updates)
    if (this.#body.apply(update)) this.#appended.push(update)
  }

  /** Brings the Y document from the body that it follows to the current body, whose text is null if both are the same. */
  async follow({ current }: queries.LockedMoves): Promise<void> {
    if (current === null) return
    this.#isAhead = true
    this.#answer(await this.#body.follow(current.split('\n')))
  }

  /**
   * Returns the body of the Y document in normal form. Where a live merge has left an invalid body, the body and the Y
   * document are repaired. The new ids follow from the id of the document and the position of the log, which never
   * occurs twice.
   */
  async settle(documentId: string): Promise<Settled> {
    this.#isAhead = true
    const { lines, repairs, updates } = await this.#body.settle(`${documentId}@${this.#tip}`)
    this.#answer(updates)
    return { lines, repairs }
  }

  /**
   * Notes that a transaction has stored the appended updates, and that the Y document follows the current body of the
   * document now. Returns the updates that the editors do not know yet.
   */
  committed({ body_seq: bodySeq, version }: Pick<DocumentRow, 'body_seq' | 'version'>): Uint8Array[] {
    const answers = this.#answers
    const logBytes = this.#position.logBytes + sizeOf(this.#appended)
    this.#position = { ...this.#position, n: this.#tip, bodySeq, version, logBytes }
    this.#appended = []
    this.#answers = []
    this.#isAhead = false
    return answers
  }

  /** Frees the memory of the Y document. */
  destroy(): void {
    this.#body.doc.destroy()
  }

  get #tip(): number {
    return this.#position.n + this.#appended.length
  }

  #answer(updates: readonly Uint8Array[]): void {
    this.#appended.push(...updates)
    this.#answers.push(...updates)
  }
}

/**
 * Thrown when a shadow cannot be brought level: the rows that it lacks were folded, or the database has lost rows that
 * the shadow holds. It is a refusal, so that the transaction rolls back without losing its connection.
 */
export class Outdated extends Refusal {
  constructor() {
    super('service_unavailable', { headers: { 'Retry-After': '1' } })
  }
}

/** The number of bytes of several updates. */
export function sizeOf(updates: readonly Uint8Array[]): number {
  return updates.reduce((sum, { length }) => sum + length, 0)
}
