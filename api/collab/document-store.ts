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

/**
 * The database operations of open documents. Six run at a time in this process, four of one workspace. An operation
 * that waits for its turn holds no connection and no lock.
 */
export class DocumentStore {
  readonly #context: LiveContext
  readonly #turns = new Turns({ atOnce: 6, ofOneUser: 4 })

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

  #inTurn<T>(key: DocumentKey, work: () => Promise<T>): Promise<T> {
    return onBehalfOf(key.workspace_id, () => this.#turns.run(work))
  }
}
