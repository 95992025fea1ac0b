import type * as Y from 'yjs'
import { compute } from '../../computations/compute.ts'
import { type Database, inTransaction, type Transaction } from '../../database/database.ts'
import { codeOf } from '../../database/driver-errors.ts'
import { lockDocument } from '../../documents/queries.ts'
import { documentNotFound } from '../../documents/require.ts'
import { Refusal } from '../../errors/errors.ts'
import { deriving } from './derive.ts'
import * as queries from './queries.ts'
import { FollowingBody } from './whole-body.ts'

/**
 * The copy of a Y document that a live process keeps for the database: the shadow of the document that its editors see.
 * It holds exactly what is stored. Text that is typed enters it only within the flush that stores the text.
 *
 * A transaction that fails may leave text in the shadow that is not stored. Then the replica forgets its shadow, and
 * loads it again before its next use. The replica also remembers which updates the document of the editors lacks.
 */
export class LiveReplica {
  readonly key: queries.DocumentKey
  #shadow: Shadow | null = null
  /** The newest row of the log that the owner of the replica has got. */
  #given = beforeEverything
  #untold: Uint8Array[] = []
  #last: Promise<unknown> = Promise.resolve()

  constructor(key: queries.DocumentKey) {
    this.key = { workspace_id: key.workspace_id, id: key.id }
  }

  /** The stored body that the replica has followed so far; 0 while nothing is loaded. */
  get bodySeq(): number {
    return this.#shadow?.bodySeq ?? 0
  }

  /** Whether the log is so long that `compactLive` should fold it into the state. */
  get isLogLong(): boolean {
    return this.#shadow !== null && this.#shadow.n - this.#shadow.foldedN > longestLog
  }

  /** Runs `work` after all earlier work of the replica. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work)
    this.#last = result.catch(() => {})
    return result
  }

  /**
   * Runs `work` with the shadow, in a transaction that has locked nothing yet, and again after a serialisation failure
   * or a deadlock. The shadow is loaded before, while no lock is held. `work` may change the shadow, and its `stored`
   * tells where the shadow stands after the commit.
   */
  async inTransaction<T>(
    database: Database,
    work: (tx: Transaction, shadow: Shadow) => Promise<{ stored: ShadowPosition; untold: Uint8Array[]; result: T }>,
  ): Promise<T> {
    return this.repeatedly(database, async (shadow) => {
      const { stored, untold, result } = await inTransaction(database, (tx) => work(tx, shadow), 0)
      shadow.moveTo(stored)
      this.#untold.push(...untold)
      return result
    })
  }

  /** Runs `work` with the shadow, and again with a shadow that is loaded anew when the shadow turns out unusable. */
  async repeatedly<T>(database: Database, work: (shadow: Shadow) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      this.#shadow ??= await this.#load(database)
      try {
        return await work(this.#shadow)
      } catch (error) {
        if (this.#shadow.isAhead || error instanceof Outdated) this.#forget()
        if (attempt === attempts || !isRepeatable(error)) throw error
      }
    }
  }

  /** Takes in what other processes have stored. */
  take(shadow: Shadow, moves: queries.LiveMoves): void {
    this.#untold.push(...shadow.take(moves))
  }

  /** Gives the owner all updates that it lacks. The owner must apply them. */
  told(): Uint8Array[] {
    const updates = this.#untold
    this.#untold = []
    this.#given = this.#shadow?.n ?? this.#given
    return updates
  }

  #forget(): void {
    this.#shadow?.doc.destroy()
    this.#shadow = null
    this.#untold = []
  }

  async #load(database: Database): Promise<Shadow> {
    for (let attempt = 1; attempt <= attempts; attempt += 1) {
      const stored = await queries.storedLive(database, this.key)
      if (stored === null) throw documentNotFound(this.key.id)
      const { state, n, folded_n: foldedN, updates } = stored
      if (state !== null && n !== null && foldedN !== null) {
        const isBehind = this.#given < foldedN
        this.#untold = isBehind ? [state, ...updates] : updates.slice(this.#given - foldedN)
        const body = await FollowingBody.open([state, ...updates], stored.body.split('\n'))
        const bodyBytes = Buffer.byteLength(stored.body)
        return new Shadow(body, { n, foldedN, bodySeq: stored.body_seq, bodyBytes })
      }
      await this.#derive(database, stored)
    }
    throw new Refusal('service_unavailable', { headers: { 'Retry-After': '1' } })
  }

  // Derives the first state of the document. When another process was faster, its state stays and this state is lost.
  async #derive(database: Database, { body, body_seq }: queries.StoredLive): Promise<void> {
    const state = await compute(deriving, { text: body })
    await inTransaction(database, async (tx) => {
      const { workspace_id, id } = this.key
      const document = await lockDocument(tx, { documentId: id, workspaceIds: [workspace_id] })
      if (document === null) throw documentNotFound(id)
      queries.insertState(tx, { workspace_id, id, state, body_seq })
    })
  }
}

/** A position of a shadow in the database: the row of the log and the body, with the size of that body in bytes. */
export type ShadowPosition = { n: number; foldedN: number; bodySeq: number; bodyBytes: number }

/** The shadow of a replica while it is loaded. */
export class Shadow {
  readonly body: FollowingBody
  #position: ShadowPosition
  /** Whether the Y document may hold more than is stored. */
  isAhead = false

  constructor(body: FollowingBody, position: ShadowPosition) {
    this.body = body
    this.#position = position
  }

  get doc(): Y.Doc {
    return this.body.doc
  }

  get n(): number {
    return this.#position.n
  }

  get foldedN(): number {
    return this.#position.foldedN
  }

  get bodySeq(): number {
    return this.#position.bodySeq
  }

  get position(): ShadowPosition {
    return this.#position
  }

  /** Takes in the rows of others, and the body that they brought the Y document to. Returns the rows. */
  take({ n, folded_n: foldedN, updates, followed_seq: bodySeq, followed }: queries.LiveMoves): Uint8Array[] {
    if (foldedN > this.n || n < this.n) throw new Outdated()
    for (const update of updates) this.body.apply(update)
    if (followed !== null) this.body.stand(followed.split('\n'))
    const bodyBytes = followed === null ? this.#position.bodyBytes : Buffer.byteLength(followed)
    this.#position = { n, foldedN, bodySeq, bodyBytes }
    return updates
  }

  moveTo(position: ShadowPosition): void {
    this.#position = position
    this.isAhead = false
  }
}

const beforeEverything = -1
const attempts = 5
// The most rows that a log should have. 200 rows replay in a few milliseconds. Writing a large state costs more.
const longestLog = 200

/**
 * Thrown when a shadow cannot be brought level: the rows that it lacks were folded, or the database has lost rows that
 * the shadow holds. It is a refusal, so that the transaction rolls back without losing its connection.
 */
class Outdated extends Refusal {
  constructor() {
    super('service_unavailable', { headers: { 'Retry-After': '1' } })
  }
}

// True for a shadow that must be loaded anew, and for PostgreSQL's serialisation failures and deadlocks.
function isRepeatable(error: unknown): boolean {
  return error instanceof Outdated || (error instanceof Error && codeOf(error).startsWith('40'))
}
