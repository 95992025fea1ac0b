import type { Document } from '@hocuspocus/server'
import * as Y from 'yjs'
import type { LiveReplica } from '../../shared/body/live/replica.ts'
import type { TextRescue } from '../../shared/body/yjs/rescue.ts'
import { keptAside } from '../../shared/body/yjs/yjs-internals.ts'
import { ownTurn } from '../../shared/computations/slices.ts'
import { Refusal } from '../../shared/errors/errors.ts'
import type { Logger } from '../../shared/process/log.ts'
import type { DocumentStore } from './document-store.ts'
import type { EditSession } from './edit-session.ts'
import type { CollabMetrics } from './metrics.ts'
import { ownOrigin } from './origins.ts'
import type { SaveStatus } from './save-status.ts'
import type { UnstoredText } from './unstored-text.ts'

/** The parts of an open document that its operations work on. */
type Parts = {
  live: Document
  replica: LiveReplica
  text: UnstoredText
  session: EditSession
  status: SaveStatus
  rescue: TextRescue
  context: { store: DocumentStore; metrics: CollabMetrics; log: Logger }
}

/**
 * The operations that bring the live document and the database together: a sync, a flush, and folding the log. The
 * caller runs one after the other.
 */
export class DocumentOperations {
  readonly #parts: Parts
  #flushedAt = Number.NEGATIVE_INFINITY

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** When the last flush has ended, in milliseconds of `performance.now()`. */
  get flushedAt(): number {
    return this.#flushedAt
  }

  /**
   * Whether everything that this process has received is stored. Yjs keeps aside what has to wait for other updates.
   */
  get isComplete(): boolean {
    const { structs, deletions } = keptAside(this.#parts.live)
    return this.#isStored && structs.length === 0 && deletions.length === 0
  }

  /**
   * Reads what other processes and programs have stored. `isBehind`: a program is known to have changed the body.
   * Returns whether there was anything.
   */
  async sync({ isBehind }: { isBehind: boolean }): Promise<boolean> {
    const { context, replica, status } = this.#parts
    const { updates } = await context.store.sync({ replica, isBehind })
    await this.#follow(updates)
    const isNewVersion = status.read(replica)
    this.regainText()
    if (updates.length > 0 || isNewVersion) status.tell(this.isComplete)
    return updates.length > 0
  }

  /**
   * Stores pending and relayed text. `isLast`: the last editor has left. Returns whether other processes or programs
   * had stored anything.
   */
  async flush({ isLast }: { isLast: boolean }): Promise<boolean> {
    const { context, replica, text, session, status } = this.#parts
    const began = performance.now()
    const tellMetrics = (outcome: 'done' | 'refused' | 'failed') =>
      context.metrics.flushed(outcome, (performance.now() - began) / 1000)
    // Text that another process has only relayed belongs to the editing session of the other process.
    const isOurs = text.isOurs || isLast
    const version = isOurs ? session.next({ isLast }) : 'none'
    const { updates, userId, stored } = text.forFlush()
    try {
      const flushed = await context.store.flush({ replica, updates, caller: { userId }, version })
      await this.#follow(flushed.updates)
      stored()
      const isNewVersion = status.read(replica)
      // Another process may have stored the text, or an earlier flush whose commit went unheard.
      if (isOurs) session.flushed({ version, changed: flushed.changed || isNewVersion })
      tellMetrics('done')
      status.tell(this.isComplete)
      return flushed.updates.length > 0
    } catch (error) {
      tellMetrics(error instanceof Refusal ? 'refused' : 'failed')
      throw error
    } finally {
      this.#flushedAt = performance.now()
    }
  }

  /** Folds the log into the stored state. A failure is of no consequence: a later call folds the log. */
  async compact(): Promise<void> {
    const { context, replica } = this.#parts
    const { store, log } = context
    await store.compact(replica).catch((err: unknown) => log.debug({ err }, 'a log could not be folded'))
  }

  /**
   * Adds text to the pending text that only the live document holds. The database may have been set back to an earlier
   * state. Or Yjs held back an update of an editor until other text had arrived.
   */
  regainText(): void {
    const { live, text, status } = this.#parts
    if (this.#isStored && status.isBehind) text.regain(Y.encodeStateAsUpdate(live, status.stateVector))
  }

  // Whether everything that the live document has taken up is stored.
  get #isStored(): boolean {
    const { text } = this.#parts
    return !text.isPending && !text.isRelayed
  }

  // Applies stored updates, with a turn of the event loop after each: they are cut so that none takes long. The replica
  // gives each update once, so an error in one of them must not keep back those that follow.
  async #follow(updates: readonly Uint8Array[]): Promise<void> {
    const errors: unknown[] = []
    for (const [index, update] of updates.entries()) {
      if (index > 0) await ownTurn()
      try {
        this.#parts.rescue.apply(update, ownOrigin('stored'))
      } catch (error) {
        errors.push(error)
      }
    }
    if (errors.length > 0) throw errors[0]
  }
}
