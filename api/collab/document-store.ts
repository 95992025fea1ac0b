import type { Caller } from '../../shared/auth/caller.ts'
import {
  compactLive,
  type Flushed,
  type LiveUpdates,
  openLive,
  persistLive,
  syncY,
} from '../../shared/body/live/live-document.ts'
import type { DocumentKey } from '../../shared/body/live/queries.ts'
import { computingAhead } from '../../shared/computations/ahead.ts'
import type { Config } from '../../shared/config/config.ts'
import { bodyConsequences } from '../../shared/consequences/body.ts'
import { type Database, inTransaction } from '../../shared/database/database.ts'
import type { Jobs } from '../../shared/jobs/send.ts'
import { onBehalfOf } from '../../shared/turns/requester.ts'
import { Turns } from '../../shared/turns/turns.ts'

// Database operations at a time in this process, and for the documents of one workspace. A turn that waits here holds
// no connection and no lock.
const atOnce = 6
const ofOneWorkspace = 4

/** The operations of open documents on the database. Each waits for its turn, in an order that is fair to documents. */
export class DocumentStore {
  readonly #context: { database: Database; jobs: Jobs; config: Config }
  readonly #turns = new Turns({
    atOnce,
    ofOneWorkspace,
    waiting: Number.POSITIVE_INFINITY,
    waitingOfOneUser: Number.POSITIVE_INFINITY,
    patienceMs: 0,
  })

  constructor(context: { database: Database; jobs: Jobs; config: Config }) {
    this.#context = context
  }

  open(key: DocumentKey): Promise<LiveUpdates> {
    const { database } = this.#context
    return this.#inTurn(key, () => inTransaction(database, (tx) => openLive(tx, key)))
  }

  sync(key: DocumentKey, seen: number): Promise<LiveUpdates> {
    const { database } = this.#context
    return this.#inTurn(key, () => inTransaction(database, (tx) => syncY(tx, { ...key, seen })))
  }

  flush(key: DocumentKey, typed: { caller: Caller; updates: readonly Uint8Array[]; seen: number }): Promise<Flushed> {
    const { database, jobs, config } = this.#context
    const consequences = { body: bodyConsequences }
    return this.#inTurn(key, () =>
      computingAhead((ahead) =>
        inTransaction(database, (tx) =>
          persistLive({ tx, jobs, config, ahead, consequences }, { documentId: key.id, ...typed }),
        ),
      ),
    )
  }

  compact(key: DocumentKey): Promise<void> {
    const { database } = this.#context
    return this.#inTurn(key, () => inTransaction(database, (tx) => compactLive(tx, key)))
  }

  // A document takes the place of the user, so that the documents of a workspace take turns.
  #inTurn<T>(key: DocumentKey, work: () => Promise<T>): Promise<T> {
    return onBehalfOf({ workspaceId: key.workspace_id, userId: key.id }, () => this.#turns.run(work))
  }
}
