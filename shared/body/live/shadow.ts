import * as Y from 'yjs'
import { inSlices, type Slices } from '../../computations/slices.ts'
import type { DocumentRow } from '../../documents/queries.ts'
import { Refusal } from '../../errors/errors.ts'
import { FollowingBody, type Settled } from '../yjs/following-body.ts'
import { mergeUpdates, watchKeptBack } from '../yjs/state.ts'
import type { LiveMoves, LockedMoves } from './moves.ts'
import type * as queries from './queries.ts'

/**
 * A position of a shadow in the database. `n` is the newest row of the log, and `foldedN` the newest row that is folded
 * into the state. `bodySeq` is the body that the Y document follows, and `version` is that of the current body. The
 * sizes of the stored state and of the log are in bytes.
 */
export type ShadowPosition = {
  n: number
  foldedN: number
  bodySeq: number
  version: string
  stateBytes: number
  logBytes: number
}

/**
 * A stored Y document, and its state and log cut into small updates. `isDoubtful` says that the Y document may differ
 * from the body that it follows.
 */
type Opening = {
  key: queries.DocumentKey
  stored: queries.StoredLive & queries.StoredState
  slices: readonly Uint8Array[]
  isDoubtful: boolean
}

/**
 * The shadow of a replica while it is loaded. It is the Y document exactly as it is stored, with the lines of the body
 * that it follows. A transaction merges, follows and settles, stores what the shadow has `appended`, and then tells the
 * shadow of its commit. When the transaction fails, the shadow is ahead of the database and must not be used again.
 */
export class Shadow {
  readonly body: FollowingBody
  readonly #documentId: string
  #position: ShadowPosition
  #appended: Uint8Array[] = []
  // The appended updates that the editors do not know yet.
  #answers: Uint8Array[] = []
  #isAhead = false
  #isDoubtful: boolean

  private constructor(
    body: FollowingBody,
    { key, position, isDoubtful }: Pick<Opening, 'key' | 'isDoubtful'> & { position: ShadowPosition },
  ) {
    this.body = body
    this.#documentId = key.id
    this.#position = position
    this.#isDoubtful = isDoubtful
  }

  /** Makes the shadow of a stored Y document. */
  static async open({ key, stored, slices, isDoubtful }: Opening): Promise<Shadow> {
    const { state, updates, n, folded_n: foldedN, body_seq: bodySeq, version } = stored
    const body = await inSlices(FollowingBody.open({ updates: slices, lines: stored.body.split('\n') }))
    const sizes = { stateBytes: state.length, logBytes: sizeOf(updates) }
    const shadow = new Shadow(body, { key, position: { n, foldedN, bodySeq, version, ...sizes }, isDoubtful })
    if (isDoubtful) {
      body.distrust()
      await shadow.settle()
    }
    return shadow
  }

  /** Where the shadow stands in the database. */
  get position(): Readonly<ShadowPosition> {
    return this.#position
  }

  /** What the statements that read the moves of others need to know. */
  get seen(): { n: number; isDoubtful: boolean } {
    return { n: this.#position.n, isDoubtful: this.#isDoubtful }
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
    return Y.encodeStateVector(this.body.doc)
  }

  /**
   * Takes in the rows of others, which bring the Y document to the body `followed_seq`. Returns the rows. Throws
   * `Outdated` when the rows are not those after the rows of the shadow. Throws `Contradiction` when the Y document
   * does not hold that body, unless it is doubtful: then repairs are appended, and the transaction follows the body.
   */
  async take(moves: LiveMoves): Promise<readonly Uint8Array[]> {
    const { n, folded_n: foldedN, updates, followed_seq: bodySeq, version } = moves
    if (foldedN > this.#position.n || n < this.#position.n) throw new Outdated()
    const isMoved = updates.length > 0 || bodySeq !== this.#position.bodySeq
    this.#position = { n, foldedN, bodySeq, version, stateBytes: moves.state_bytes, logBytes: moves.log_bytes }
    if (isMoved) {
      await inSlices(applied(this.body, updates))
      const wasAhead = this.#isAhead
      const { repairs } = await this.settle()
      const isFollowed = repairs.length === 0 && this.body.version === moves.followed_version
      if (!isFollowed && !this.#isDoubtful) throw new Contradiction()
      // Without repairs, the Y document still is what is stored.
      this.#isAhead = wasAhead || repairs.length > 0
    }
    return updates
  }

  /**
   * Takes in the text that was typed since the last flush. Small updates become one row of the log, in which Yjs leaves
   * out what was typed and deleted again. Larger updates become a row each. Text that is stored already gets no row.
   */
  async merge(updates: readonly Uint8Array[]): Promise<void> {
    if (updates.length === 0) return
    this.#isAhead = true
    if (sizeOf(updates) <= smallText) this.#appended.push(...mergedInto(this.body.doc, updates))
    else await inSlices(applied(this.body, updates, this.#appended))
  }

  /**
   * Brings the Y document from the body that it follows to the current body, if they differ. Returns whether they do.
   * Throws `Contradiction` when the result does not have the version of the current body.
   */
  async follow({ before, after, middle, version }: LockedMoves): Promise<boolean> {
    if (before === null || after === null || middle === null) return false
    this.#isAhead = true
    const lines = this.body.linesOf({ before, after, middle: Buffer.from(middle) })
    this.#answer(await inSlices(this.body.follow(lines)))
    if (this.body.version !== version) throw new Contradiction()
    return true
  }

  /**
   * Takes the content of the Y document as the new body. Where a live merge has left an invalid body, the body and
   * the Y document are repaired. The new ids follow from the id of the document and the position of the log, which
   * never occurs twice.
   */
  async settle(): Promise<Settled> {
    this.#isAhead = true
    const settled = await inSlices(this.body.settle(`${this.#documentId}@${this.#tip}`))
    this.#answer(settled.updates)
    return settled
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
    this.#isDoubtful = false
    return answers
  }

  /** Frees the memory of the Y document. */
  destroy(): void {
    this.body.doc.destroy()
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

/**
 * Thrown when the Y document turns out not to hold the body that it follows. The body is the truth, so the Y document
 * must be read as a whole and brought to the body.
 */
export class Contradiction extends Outdated {}

// The most bytes of typed text that Yjs takes in within a few milliseconds.
export const smallText = 64 * 1024

function* applied(body: FollowingBody, updates: readonly Uint8Array[], news: Uint8Array[] = []): Slices<void> {
  for (const update of updates) {
    if (body.apply(update)) news.push(update)
    yield
  }
}

// Applies updates in one Yjs transaction. Returns the update that Yjs makes of them, or nothing when all was known. An
// update that builds on something missing is kept back by Yjs, and would be missing in the result. So the result is
// then made from the updates themselves.
function mergedInto(doc: Y.Doc, updates: readonly Uint8Array[]): Uint8Array[] {
  const keepsMore = watchKeptBack(doc)
  const merged: Uint8Array[] = []
  const collect = (update: Uint8Array) => merged.push(update)
  doc.on('update', collect)
  try {
    doc.transact(() => {
      for (const update of updates) Y.applyUpdate(doc, update)
    })
  } finally {
    doc.off('update', collect)
  }
  return keepsMore() ? [mergeUpdates(updates)] : merged
}

/** The number of bytes of several updates. */
export function sizeOf(updates: readonly Uint8Array[]): number {
  return updates.reduce((sum, { length }) => sum + length, 0)
}
