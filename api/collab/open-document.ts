import type { Connection, Document } from '@hocuspocus/server'
import * as Y from 'yjs'
import type { Caller } from '../../shared/auth/caller.ts'
import type { LiveUpdates } from '../../shared/body/live/live-document.ts'
import type { DocumentKey } from '../../shared/body/live/queries.ts'
import { Refusal } from '../../shared/errors/errors.ts'
import type { Logger } from '../../shared/process/log.ts'
import type { DocumentStore } from './document-store.ts'
import type { CollabMetrics } from './metrics.ts'
import { originOf, ownOrigin } from './origins.ts'
import { PendingText } from './pending-text.ts'
import { savedMessage, unsavedMessage } from './save-messages.ts'

/** The parts of the process that every open document uses. */
export type OpenDocumentContext = {
  store: DocumentStore
  metrics: CollabMetrics
  log: Logger
  /** Pauses in milliseconds: without typing, and at most, before typed text is stored. */
  timing: { debounceMs: number; maxDebounceMs: number }
}

// The pause after a failed operation: doubled with each failure, up to the longest.
const firstRetryMs = 500
const longestRetryMs = 15_000
// The least time between the end of a flush and a flush that a notification asks for. Without this pause, two processes
// whose users type without a break would flush after each other without a break.
const noticePauseMs = 100
// The interval at which an open document looks for writes whose notification was lost.
const lookMs = 30_000

/**
 * One open document of this process: the live document that its editors see, the text that was typed and is not stored
 * yet, and the operations that bring the live document and the database together, one at a time.
 */
export class OpenDocument {
  readonly live: Document
  readonly key: DocumentKey
  readonly #context: OpenDocumentContext
  readonly #onUnused: (opened: OpenDocument) => void
  readonly #pending = new PendingText()
  #lastTypist: Caller | null = null
  /** The number of the newest row of the log that the live document has. */
  #seen: number
  /** When a notification came that no operation has answered yet, in milliseconds of `performance.now()`. */
  #noticedAt: number | null = null
  #running: Promise<void> | null = null
  #timer: NodeJS.Timeout | undefined
  #failures = 0
  #notBefore = 0
  #flushedAt = Number.NEGATIVE_INFINITY
  #lookAt = performance.now() + lookMs
  #hurried = false
  #closed = false
  /** The version of the stored body; null until this process has stored one. */
  #version: string | null = null
  /** The Yjs state vector of what is stored. */
  readonly #storedClocks: Map<number, number>

  private constructor(
    live: Document,
    { key, context, seen, onUnused }: { key: DocumentKey; context: OpenDocumentContext; seen: number } & Unused,
  ) {
    this.live = live
    this.key = key
    this.#context = context
    this.#seen = seen
    this.#onUnused = onUnused
    this.#storedClocks = Y.decodeStateVector(Y.encodeStateVector(live))
    live.on('update', (update: Uint8Array, origin: unknown) => this.#onUpdate(update, origin))
    this.#schedule()
  }

  /** Loads a document into the empty `live` document. Throws what `openLive` throws. */
  static async open(live: Document, input: { key: DocumentKey; context: OpenDocumentContext } & Unused) {
    const opened = await input.context.store.open(input.key)
    for (const update of opened.updates) Y.applyUpdate(live, update, ownOrigin('stored'))
    return new OpenDocument(live, { ...input, seen: opened.n })
  }

  /** The bytes of typed text that no commit has stored yet. */
  get pendingBytes(): number {
    return this.#pending.bytes
  }

  /** Whether everything that this process has received is stored. */
  get stored(): boolean {
    return this.#pending.empty
  }

  get closed(): boolean {
    return this.#closed
  }

  /** Tells a new connection what is stored. */
  greet(connection: Connection): void {
    if (this.#version !== null) connection.sendStateless(this.#savedMessage(this.#version))
  }

  /** Asks for the writes of others, of which a notification has told or may have been missed. */
  notice(): void {
    this.#noticedAt ??= performance.now()
    this.#schedule()
  }

  /** Stores pending text without waiting for a pause in typing. */
  hurry(): void {
    this.#hurried = true
    this.#schedule()
  }

  /** Stores everything, with retries, until it is stored or the signal aborts. Returns whether everything is stored. */
  async drain(signal: AbortSignal): Promise<boolean> {
    while (!this.#pending.empty && !this.#closed && !signal.aborted) {
      this.#notBefore = 0
      this.hurry()
      await this.#running
      if (!this.#pending.empty) await pause(firstRetryMs, signal)
    }
    return this.#pending.empty || this.#closed
  }

  /**
   * Folds the log of the document, which nobody uses any more. Called before the document is forgotten; text that is
   * typed meanwhile stays pending.
   */
  async compact(): Promise<void> {
    await this.#running
    await this.#context.store.compact(this.key)
  }

  /** Forgets the document. What is pending is dropped. */
  close(): void {
    this.#closed = true
    this.#pending.clear()
    clearTimeout(this.#timer)
  }

  #onUpdate(update: Uint8Array, origin: unknown): void {
    const { kind, editor } = originOf(origin)
    if (kind === 'stored' || kind === 'peer' || this.#closed) return
    if (editor !== null) this.#lastTypist = editor.caller
    this.#pending.add(update)
    this.#schedule()
  }

  #schedule(): void {
    clearTimeout(this.#timer)
    if (this.#closed || this.#running !== null) return
    const wait = this.#dueAt() - performance.now()
    if (wait <= 0) this.#run()
    else this.#timer = setTimeout(() => this.#run(), wait)
  }

  #dueAt(): number {
    const due = this.#pending.empty ? (this.#noticedAt ?? this.#lookAt) : this.#flushDueAt()
    return Math.max(due, this.#notBefore)
  }

  #flushDueAt(): number {
    if (this.#hurried) return Number.NEGATIVE_INFINITY
    const typed = this.#pending.dueAt(this.#context.timing)
    return this.#noticedAt === null ? typed : Math.min(typed, this.#flushedAt + noticePauseMs)
  }

  #run(): void {
    this.#running = this.#operate().finally(() => {
      this.#running = null
      if (this.#pending.empty && this.live.getConnectionsCount() === 0) this.#onUnused(this)
      this.#schedule()
    })
  }

  // One operation. A notification that comes meanwhile asks for another operation.
  async #operate(): Promise<void> {
    const noticedAt = this.#noticedAt
    this.#noticedAt = null
    this.#lookAt = performance.now() + lookMs
    this.#hurried = false
    const wasPending = !this.#pending.empty
    try {
      const { updates, n } = await (wasPending ? this.#flush() : this.#sync())
      for (const update of updates) this.#follow(update)
      this.#seen = n
      this.#failures = 0
      if (wasPending || updates.length > 0) this.#tellSaved()
      if (noticedAt !== null) this.#context.metrics.followed((performance.now() - noticedAt) / 1000)
    } catch (error) {
      this.#noticedAt ??= noticedAt
      this.#failed(error)
    }
  }

  #sync(): Promise<LiveUpdates> {
    return this.#context.store.sync(this.key, this.#seen)
  }

  async #flush(): Promise<LiveUpdates> {
    const began = performance.now()
    const batch = this.#pending.take()
    const clocks = Y.decodeStateVector(Y.encodeStateVector(this.live))
    try {
      const caller = this.#lastTypist
      if (caller === null) throw new Error('pending text without an author')
      const flushed = await this.#context.store.flush(this.key, { caller, updates: batch, seen: this.#seen })
      this.#pending.stored()
      this.#context.metrics.flushed('done', (performance.now() - began) / 1000)
      this.#version = flushed.document.version
      this.#noteStored(clocks)
      return flushed
    } catch (error) {
      this.#pending.giveBack()
      this.#context.metrics.flushed(error instanceof Refusal ? 'refused' : 'failed', (performance.now() - began) / 1000)
      throw error
    } finally {
      this.#flushedAt = performance.now()
    }
  }

  // Applies an update that is stored.
  #follow(update: Uint8Array): void {
    Y.applyUpdate(this.live, update, ownOrigin('stored'))
    this.#noteStored(Y.parseUpdateMeta(update).to)
  }

  #noteStored(clocks: ReadonlyMap<number, number>): void {
    for (const [client, clock] of clocks) {
      this.#storedClocks.set(client, Math.max(clock, this.#storedClocks.get(client) ?? 0))
    }
  }

  #tellSaved(): void {
    if (this.#version !== null) this.live.broadcastStateless(this.#savedMessage(this.#version))
  }

  #savedMessage(version: string): string {
    return savedMessage({ version, vector: Y.encodeStateVector(this.#storedClocks), complete: this.#pending.empty })
  }

  #failed(error: unknown): void {
    if (this.#closed) return
    const code = error instanceof Refusal ? error.code : 'service_unavailable'
    if (code === 'document_not_found') return this.#deleted()
    this.#failures += 1
    const wait = Math.min(firstRetryMs * 2 ** (this.#failures - 1), longestRetryMs)
    this.#notBefore = performance.now() + wait * (0.75 + Math.random() / 2)
    if (this.#failures === 1 && !(error instanceof Refusal)) {
      this.#context.log.warn({ err: error, document_id: this.key.id }, 'an open document could not be stored or read')
    }
    if (!this.#pending.empty) this.live.broadcastStateless(unsavedMessage(code))
  }

  // Nobody can store text into a deleted document, so the text is dropped with it.
  #deleted(): void {
    const connections = this.live.getConnections()
    this.close()
    for (const connection of connections) {
      this.#context.metrics.cut('deleted')
      connection.close({ code: 4404, reason: 'document_not_found' })
    }
    this.#onUnused(this)
  }
}

type Unused = {
  /** Called when the document has neither connections nor pending text, so that it may be unloaded. */
  onUnused: (opened: OpenDocument) => void
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, milliseconds)
    function done(): void {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    signal.addEventListener('abort', done)
  })
}
