import {
  compactLive,
  type Flush,
  type Flushed,
  type LiveContext,
  openLive,
  persistLive,
  syncLive,
} from '../../shared/body/live/live-document.ts'
import type { DocumentKey } from '../../shared/body/live/queries.ts'
import type { LiveReplica } from '../../shared/body/live/replica.ts'
import { onBehalfOf } from '../../shared/turns/requester.ts'
import { Turns } from '../../shared/turns/turns.ts'

// Database operations at a time in this process, and for the documents of one workspace.
const atOnce = 6
const ofOneWorkspace = 4

/**
 * The database operations of open documents. Each operation waits for its turn, in an order that is fair to workspaces
 * and to their documents. An operation that waits holds no connection and no lock.
 */
export class DocumentStore {
  readonly #context: LiveContext
  readonly #turns = new Turns({
    atOnce,
    ofOneWorkspace,
    waiting: Number.POSITIVE_INFINITY,
    waitingOfOneUser: Number.POSITIVE_INFINITY,
    patienceMs: 0,
  })

  constructor(context: LiveContext) {
    this.#context = context
  }

  /** Opens a document; see `openLive`. */
  open(key: DocumentKey): Promise<{ replica: LiveReplica; updates: Uint8Array[] }> {
    return this.#inTurn(key, () => openLive(this.#context, key))
  }

  /** Reads the writes of others; see `syncLive`. */
  sync(sync: { replica: LiveReplica; isBehind: boolean }): Promise<{ updates: Uint8Array[] }> {
    return this.#inTurn(sync.replica.key, () => syncLive(this.#context, sync))
  }

  /** Stores typed text; see `persistLive`. */
  flush(flush: Flush): Promise<Flushed> {
    return this.#inTurn(flush.replica.key, () => persistLive(this.#context, flush))
  }

  /** Folds the log of a document into its state; see `compactLive`. */
  compact(replica: LiveReplica): Promise<void> {
    return this.#inTurn(replica.key, () => compactLive(this.#context, { replica }))
  }

  // A document takes the place of the user, so that the documents of a workspace take turns.
  #inTurn<T>(key: DocumentKey, work: () => Promise<T>): Promise<T> {
    return onBehalfOf({ workspaceId: key.workspace_id, userId: key.id }, () => this.#turns.run(work))
  }
}
