import { compute } from '../../computations/compute.ts'
import { type Database, inTransaction, type Transaction } from '../../database/database.ts'
import { codeOf } from '../../database/outages.ts'
import { type DocumentRow, lockDocument } from '../../documents/queries.ts'
import { documentNotFound } from '../../documents/require.ts'
import { Refusal } from '../../errors/errors.ts'
import { checking, cutting, deriving } from '../yjs/computations.ts'
import type { LiveMoves } from './moves.ts'
import type { ChangedBody } from './notifications.ts'
import * as queries from './queries.ts'
import { Contradiction, Outdated, Shadow } from './shadow.ts'

/** A result of a transaction that has brought the stored Y document of a shadow to the current body of the document. */
export type Stored<T> = { document: Pick<DocumentRow, 'body_seq' | 'version'>; result: T }

/**
 * The copy of a Y document that a collab process keeps for the database, beside the live document. Its
 * shadow holds exactly what is stored. Text that is typed enters the shadow only within the flush that stores the text.
 *
 * After a transaction that failed, or a commit whose answer did not arrive, the replica forgets its shadow and loads it
 * again before its next use. The replica also remembers which stored updates the live document lacks.
 */
export class LiveReplica {
  readonly key: queries.DocumentKey
  #shadow: Shadow | null = null
  /** The newest row of the log that was given to the live document. */
  #given = beforeEverything
  #untold: Uint8Array[] = []
  /** Whether the stored Y document may differ from the body that it follows. */
  #isDoubtful = false
  #isChecked = false
  #last: Promise<unknown> = Promise.resolve()

  constructor({ workspace_id, id }: queries.DocumentKey) {
    this.key = { workspace_id, id }
  }

  /** Whether the replica has followed a body and taken in a row of the log. False while nothing is loaded. */
  knows({ bodySeq, n }: Pick<ChangedBody, 'bodySeq' | 'n'>): boolean {
    const position = this.#shadow?.position
    return position !== undefined && bodySeq <= position.bodySeq && n <= position.n
  }

  /** The version of the body that the replica has followed so far; empty while nothing is loaded. */
  get version(): string {
    return this.#shadow?.position.version ?? ''
  }

  /** The Yjs state vector of what is stored, as far as the replica has followed it; null while nothing is loaded. */
  get stateVector(): Uint8Array | null {
    return this.#shadow?.stateVector ?? null
  }

  /** Whether the log is so long that `compactLive` should fold it into the state. */
  get isLogLong(): boolean {
    if (this.#shadow === null) return false
    const { n, foldedN, stateBytes, logBytes } = this.#shadow.position
    return n - foldedN > longestLog || logBytes > Math.max(stateBytes, largestLog)
  }

  /** Runs `work` after all earlier work of the replica. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work)
    this.#last = result.catch(() => {})
    return result
  }

  /**
   * Runs `work` with the shadow in a transaction, and again after a serialisation failure or a deadlock. The shadow is
   * loaded before the transaction, while no lock is held.
   */
  inTransaction<T>(database: Database, work: (tx: Transaction, shadow: Shadow) => Promise<Stored<T>>): Promise<T> {
    return this.repeatedly(database, async (shadow) => {
      const { document, result } = await inTransaction(database, (tx) => work(tx, shadow), 0)
      this.#untold.push(...shadow.committed(document))
      this.#isDoubtful = false
      return result
    })
  }

  /** Runs `work` with the shadow. If the shadow cannot be used, loads it anew and runs `work` again. */
  async repeatedly<T>(database: Database, work: (shadow: Shadow) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      const shadow = this.#shadow ?? (await this.#load(database))
      this.#shadow = shadow
      try {
        return await work(shadow)
      } catch (error) {
        if (error instanceof Contradiction) this.#isDoubtful = true
        if (shadow.isAhead || error instanceof Outdated) this.#forget(shadow)
        if (attempt === attempts || !isRepeatable(error)) throw error
      }
    }
  }

  /** Takes in what others have stored. */
  async take(shadow: Shadow, moves: LiveMoves): Promise<void> {
    this.#untold.push(...(await shadow.take(moves)))
  }

  /** Returns all updates that the live document lacks. The caller must apply them. */
  told(): Uint8Array[] {
    const updates = this.#untold
    this.#untold = []
    this.#given = this.#shadow?.position.n ?? this.#given
    return updates
  }

  #forget(shadow: Shadow): void {
    shadow.destroy()
    this.#shadow = null
    this.#untold = []
  }

  async #load(database: Database): Promise<Shadow> {
    for (let attempt = 1; attempt <= attempts; attempt += 1) {
      const stored = found(await queries.storedLive(database, this.key), this.key)
      if (isDerived(stored)) {
        const { state, updates, n, folded_n: foldedN } = stored
        const slices = await compute(cutting, { updates: [state, ...updates] })
        // Rows were folded, or the database was set back and has numbered other rows.
        const isUnknown = this.#given < foldedN || this.#given > n
        this.#untold = isUnknown ? [...slices] : updates.slice(this.#given - foldedN)
        if (!this.#isChecked) void this.#check(stored)
        return Shadow.open({ key: this.key, stored, slices, isDoubtful: this.#isDoubtful })
      }
      await storeFirstState(database, { key: this.key, stored })
    }
    throw new Refusal('service_unavailable', { headers: { 'Retry-After': '1' } })
  }

  // Compares the whole Y document with the body that it follows, once for each replica, while the replica is in use
  // already. No call of this folder makes them differ. If they do, the body is the truth, and the next call follows it.
  async #check({ state, updates, body }: queries.StoredLive & queries.StoredState): Promise<void> {
    this.#isChecked = true
    const isSound = await compute(checking, { updates: [state, ...updates], text: body }).catch(() => true)
    if (isSound) return
    await this.alone(async () => {
      this.#isDoubtful = true
      if (this.#shadow !== null) this.#forget(this.#shadow)
    })
  }
}

/**
 * Derives the Y document of a document that was never opened live, so that its editors need not wait for a collab
 * process. Does nothing for another document.
 */
export async function deriveFirstState(database: Database, key: queries.DocumentKey): Promise<void> {
  const stored = await queries.storedLive(database, key)
  if (stored !== null && !isDerived(stored)) await storeFirstState(database, { key, stored })
}

// Derives the first state of a document. When another process was faster, its state stays and this state is lost.
async function storeFirstState(
  database: Database,
  { key, stored }: { key: queries.DocumentKey; stored: queries.StoredLive },
): Promise<void> {
  const state = await compute(deriving, { text: stored.body })
  await inTransaction(database, async (tx) => {
    await lockedDocument(tx, key)
    await queries.insertState(tx, { workspace_id: key.workspace_id, id: key.id, state, body_seq: stored.body_seq })
  })
}

/** Locks a document and returns its row. Refuses with 404 `document_not_found`. */
export async function lockedDocument(tx: Transaction, { workspace_id, id }: queries.DocumentKey): Promise<DocumentRow> {
  return found(await lockDocument(tx, { documentId: id, workspaceIds: [workspace_id] }), { id })
}

/** What was read of a document. Refuses with 404 `document_not_found` when there was nothing. */
export function found<T>(read: T | null, { id }: Pick<queries.DocumentKey, 'id'>): T {
  if (read === null) throw documentNotFound(id)
  return read
}

const beforeEverything = -1
const attempts = 5
// The most rows and bytes that a log should have. 200 rows replay in a few milliseconds. Writing a large state costs
// more. A log may be as large as its state, because folding then at most doubles what is written in all.
const longestLog = 200
const largestLog = 1024 * 1024

function isDerived(stored: queries.StoredLive): stored is queries.StoredLive & queries.StoredState {
  return stored.state !== null
}

// True for a shadow that must be loaded anew, and for PostgreSQL's serialisation failures and deadlocks. Also true when
// the account of the author was deleted at this moment.
function isRepeatable(error: unknown): boolean {
  if (error instanceof Outdated) return true
  const code = codeOf(error)
  return code.startsWith('40') || code === foreignKeyViolation
}

const foreignKeyViolation = '23503'
