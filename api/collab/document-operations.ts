import { setTimeout as sleep } from 'node:timers/promises'
import type { Document } from '@hocuspocus/server'
import * as Y from 'yjs'
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
import type { TextRescue } from '../../shared/body/yjs/rescue.ts'
import { keptAside } from '../../shared/body/yjs/yjs-internals.ts'
import { ownTurn } from '../../shared/computations/slices.ts'
import { Refusal } from '../../shared/errors/errors.ts'
import type { Logger } from '../../shared/process/log.ts'
import { onBehalfOf } from '../../shared/turns/requester.ts'
import { Turns } from '../../shared/turns/turns.ts'
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

// The pause after a failed operation, in milliseconds: doubled with each failure, up to the longest.
const firstRetryMs = 500
const longestRetryMs = 15_000
// The pause after new text is typed into a document whose commit was refused: the text may be what was missing.
const refusedRetryMs = 1000

type ScheduleOptions = {
  /** When an operation is due, in milliseconds of `performance.now()`. */
  dueAt: () => number
  /** Runs one operation. The schedule is told of a failure by a rejection. */
  operate: () => Promise<void>
  /** Is told of a failure. Returns whether the database has refused the operation for what the document holds. */
  onFailure: (error: unknown) => { isRefusal: boolean }
  /** Called after each operation. */
  onEnd: () => void
}

/**
 * Runs the operations of one document one after the other, each when it is due. After a failure the next operation
 * waits, longer with each failure.
 */
export class OperationSchedule {
  readonly #options: ScheduleOptions
  #running: Promise<void> | null = null
  #timer: NodeJS.Timeout | undefined
  #failures = 0
  #wasRefused = false
  /** When the operation began that was refused last. */
  #refusedAt = Number.NEGATIVE_INFINITY
  #notBefore = Number.NEGATIVE_INFINITY
  #isStopped = false

  constructor(options: ScheduleOptions) {
    this.#options = options
  }

  /** How many operations have failed since the last success. */
  get failures(): number {
    return this.#failures
  }

  /** Whether an operation was refused that has begun at or after a time of `performance.now()`. */
  wasRefusedSince(time: number): boolean {
    return this.#refusedAt >= time
  }

  /** To be called when an operation may be due earlier than before. */
  wake(): void {
    clearTimeout(this.#timer)
    if (this.#isStopped || this.#running !== null) return
    const wait = Math.max(this.#options.dueAt(), this.#notBefore) - performance.now()
    if (wait > 0) this.#timer = setTimeout(() => this.#run(), wait)
    else this.#run()
  }

  /** To be called when text was typed: after a refusal the pause need not be long then. */
  wakeTyped(): void {
    if (this.#wasRefused) this.#retryWithin(refusedRetryMs)
    this.wake()
  }

  /** Resolves when the operation that is due now has ended, or after a failure when the next may be tried. */
  async round(signal: AbortSignal): Promise<void> {
    this.#retryWithin(firstRetryMs)
    this.wake()
    await Promise.race([this.#running ?? sleep(firstRetryMs, undefined, { signal }), aborted(signal)]).catch(() => {})
  }

  /** Starts no further operation. */
  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
  }

  #run(): void {
    this.#running = this.#operate().finally(() => {
      this.#running = null
      this.#options.onEnd()
      this.wake()
    })
  }

  async #operate(): Promise<void> {
    const began = performance.now()
    try {
      await this.#options.operate()
      this.#failures = 0
      this.#wasRefused = false
    } catch (error) {
      this.#failures += 1
      this.#wasRefused = this.#options.onFailure(error).isRefusal
      if (this.#wasRefused) this.#refusedAt = began
      const wait = Math.min(firstRetryMs * 2 ** (this.#failures - 1), longestRetryMs)
      this.#notBefore = performance.now() + wait * (0.75 + Math.random() / 2)
    }
  }

  #retryWithin(milliseconds: number): void {
    this.#notBefore = Math.min(this.#notBefore, performance.now() + milliseconds)
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

/**
 * Decides which bodies of a document the history keeps as versions while people edit it. The body before the first
 * change is kept. A body is kept after each `intervalMs` milliseconds of editing, and when the last editor leaves.
 */
export class EditSession {
  readonly #intervalMs: number
  /** When the newest version was kept, in milliseconds of `performance.now()`; null before the first change. */
  #keptAt: number | null = null
  /** Whether the body has changed since a version was kept. */
  #hasChanged = false

  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs
  }

  /** Whether a version is still to be kept when the last editor leaves. */
  get isOpen(): boolean {
    return this.#hasChanged
  }

  /** What the next flush has to keep. `isLast`: the last editor has left, so no flush is expected to follow. */
  next({ isLast }: { isLast: boolean }): Flush['version'] {
    if (this.#keptAt === null) return 'before'
    return isLast || performance.now() - this.#keptAt >= this.#intervalMs ? 'after' : 'none'
  }

  /** Notes a flush that has stored text and has kept `version`. */
  flushed({ version, changed }: { version: Flush['version']; changed: boolean }): void {
    const keptAfter = version === 'after'
    if (keptAfter || (changed && this.#keptAt === null)) this.#keptAt = performance.now()
    this.#hasChanged = !keptAfter && (changed || this.#hasChanged)
  }
}

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
