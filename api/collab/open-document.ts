import { setTimeout as sleep } from 'node:timers/promises'
import type { Connection, Document } from '@hocuspocus/server'
import * as Y from 'yjs'
import { RefusedBody } from '../../shared/body/live/flush.ts'
import type { DocumentKey } from '../../shared/body/live/queries.ts'
import type { LiveReplica } from '../../shared/body/live/replica.ts'
import type { ClientUpdate } from '../../shared/body/yjs/client-update.ts'
import { TextRescue, type UpdateSource } from '../../shared/body/yjs/rescue.ts'
import { ownTurn } from '../../shared/computations/slices.ts'
import { isOutage } from '../../shared/database/outages.ts'
import { type ErrorCode, Refusal } from '../../shared/errors/errors.ts'
import type { Logger } from '../../shared/process/log.ts'
import { ChangeNotices, type HeardChange } from './change-notices.ts'
import { DocumentOperations, type DocumentStore, EditSession, OperationSchedule } from './document-operations.ts'
import type { CollabMetrics } from './metrics.ts'
import { originOf, ownOrigin } from './origins.ts'
import { peerOrigin } from './peers/awareness.ts'
import type { Peers, Relay } from './peers/peers.ts'
import { lostTextMessage, SaveStatus } from './save-status.ts'
import { type FlushPauses, type PendingRoom, UnstoredText } from './unstored-text.ts'

/** The parts of the process that every open document uses. */
export type OpenDocumentContext = {
  store: DocumentStore
  peers: Peers
  metrics: CollabMetrics
  log: Logger
  /** The pauses after which text is stored, and the milliseconds of editing after which a version is kept. */
  timing: FlushPauses & { snapshotMs: number }
  /** The room for typed text of all documents that no commit has stored yet. */
  pending: PendingRoom
  /** The most bytes of such text in one document. */
  mostPending: number
}

type Opening = {
  key: DocumentKey
  context: OpenDocumentContext
  /** Called when the document has no connections and nothing left to store, so that it may be unloaded. */
  onUnused: () => void
  /** Called when the document no longer exists, after it was closed. */
  onDeleted: () => void
}

// The least milliseconds between the end of a flush and a flush for which a notification is the reason. Without this
// pause, two processes whose users type without a break would flush in turn without a break.
const noticePauseMs = 100
// The interval, in milliseconds, at which an open document looks for writes whose notification was lost.
const lookMs = 15_000
// The milliseconds within which another process answers, unless it was killed or its network is broken.
const answerMs = 500

/**
 * One open document of this process. It has the live document that its editors see, and the typed text that is not
 * stored yet. Its operations bring the live document and the database together, one at a time.
 */
export class OpenDocument {
  readonly live: Document
  readonly key: DocumentKey
  readonly #context: OpenDocumentContext
  readonly #replica: LiveReplica
  readonly #onDeleted: () => void
  readonly #text: UnstoredText
  readonly #notices: ChangeNotices
  readonly #session: EditSession
  readonly #status: SaveStatus
  readonly #rescue: TextRescue
  readonly #relay: Relay
  readonly #operations: DocumentOperations
  readonly #schedule: OperationSchedule
  // A change of the body that came while the document was loaded went unheard.
  #lookAt = performance.now()
  #isHurried = false
  #isClosed = false
  #holds = 0

  private constructor(live: Document, replica: LiveReplica, { key, context, onUnused, onDeleted }: Opening) {
    this.live = live
    this.key = key
    this.#context = context
    this.#replica = replica
    this.#onDeleted = onDeleted
    const { pending: room, mostPending } = context
    this.#text = new UnstoredText({ workspaceId: key.workspace_id, room, mostPending })
    this.#notices = new ChangeNotices(replica)
    this.#session = new EditSession(context.timing.snapshotMs)
    this.#status = new SaveStatus(live, replica)
    this.#schedule = new OperationSchedule({
      dueAt: () => this.#dueAt(),
      operate: () => this.#operate(),
      onFailure: (error) => this.#failed(error),
      onEnd: () => {
        if (this.isDone && !this.isHeld && live.getConnectionsCount() === 0) onUnused()
      },
    })
    live.on('update', (update: Uint8Array, origin: unknown) => this.#onUpdate(update, origin))
    this.#rescue = new TextRescue(live, {
      sourceOf,
      origin: ownOrigin('rescue'),
      onAwaited: (process) => this.#relay.ask(process),
      onLost: (lost, origin) => originOf(origin).connection?.sendStateless(lostTextMessage(lost)),
    })
    const [text, session, status, rescue] = [this.#text, this.#session, this.#status, this.#rescue]
    this.#operations = new DocumentOperations({ live, replica, text, session, status, rescue, context })
    this.#relay = context.peers.join(key.id, {
      awareness: live.awareness,
      receive: (update, process) => this.#rescue.apply(update, peerOrigin(process)),
      pending: () => this.#text.pending,
      joined: (process) => this.#rescue.peerJoined(process),
      heard: (process) => this.#decided(() => this.#rescue.peerHeard(process)),
      left: (process) => this.#decided(() => this.#rescue.peerLeft(process)),
      takeOver: () => {
        this.#text.takeOver()
        this.#schedule.wake()
      },
      settled: () => {
        if (this.#operations.isComplete) this.#status.tellComplete()
      },
    })
    this.#text.relayBy(this.#relay)
    this.#schedule.wake()
  }

  /** Loads a document into the empty `live` document. Throws what `openLive` throws. */
  static async open(live: Document, opening: Opening): Promise<OpenDocument> {
    const { replica, updates } = await opening.context.store.open(opening.key)
    for (const update of updates) {
      Y.applyUpdate(live, update, ownOrigin('stored'))
      await ownTurn()
    }
    return new OpenDocument(live, replica, opening)
  }

  /** Whether there is text that this process must store. */
  get hasText(): boolean {
    return this.#text.isOurs
  }

  /** The reason why an update of so many bytes of a user cannot be taken now; null when there is room for it. */
  fullFor(bytes: number, userId: string): ErrorCode | null {
    return this.#text.fullFor(bytes, userId)
  }

  /** Whether the typed text of this process is stored, and the history has what it should keep. */
  get isDone(): boolean {
    return this.#isClosed || (!this.hasText && !this.#session.isOpen)
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Tells a new connection what is stored. */
  greet(connection: Connection): void {
    this.#status.greet(connection, this.#operations.isComplete)
  }

  /** Does work for an update that has arrived. The document stays in memory meanwhile, also when its editor leaves. */
  async holding<T>(work: () => Promise<T>): Promise<T> {
    this.#holds += 1
    try {
      return await work()
    } finally {
      this.#holds -= 1
      if (this.live.getConnectionsCount() === 0) this.hurry()
    }
  }

  get isHeld(): boolean {
    return this.#holds > 0 || this.#rescue.isAwaiting
  }

  /** Is told of an update of a connection, which Hocuspocus applies next. */
  announce(update: ClientUpdate, connection: Connection): void {
    this.#rescue.announce(update, { source: 'connection', connection })
  }

  /** Is told of a change. The next operation reads the change, unless this process knows it already. */
  notice(change: HeardChange): void {
    this.#notices.hear(change)
    this.#schedule.wake()
  }

  /** Stores pending text without waiting for a pause in typing. */
  hurry(): void {
    this.#isHurried = true
    this.#schedule.wake()
  }

  /**
   * Stores pending text and the last version, again and again, until they are stored, or refused for what the document
   * holds, or the signal aborts. Nobody types any more, so a refusal stays. Returns whether all text is stored.
   */
  async drain(signal: AbortSignal): Promise<boolean> {
    const began = performance.now()
    while ((this.hasText || this.#isLeft) && !this.#schedule.wasRefusedSince(began) && !signal.aborted) {
      this.#isHurried = true
      await this.#schedule.round(signal)
    }
    return !this.hasText
  }

  /** Does what `drain` does, when this process is about to end. */
  async end(signal: AbortSignal): Promise<boolean> {
    if (this.#rescue.isAwaiting) await sleep(answerMs)
    this.#rescue.rescueAwaited()
    return this.drain(signal)
  }

  /** Folds the log before the document is forgotten, and makes text pending that only the live document holds. */
  async compact(): Promise<void> {
    if (!this.#isClosed) this.#operations.regainText()
    await this.#operations.compact()
  }

  /** Ends all work for the document. What is pending is dropped. */
  close(): void {
    this.#isClosed = true
    this.#text.close()
    this.#rescue.close()
    this.#schedule.stop()
  }

  // Late text of another process has kept the document in memory.
  #decided(decide: () => void): void {
    const wasHeld = this.isHeld
    decide()
    if (wasHeld && !this.isHeld && this.live.getConnectionsCount() === 0) this.hurry()
  }

  #onUpdate(update: Uint8Array, origin: unknown): void {
    const { kind, connection } = originOf(origin)
    if (kind === 'stored' || kind === 'peer' || this.#isClosed) return
    this.#text.type(update, connection?.context.editor.userId)
    this.#schedule.wakeTyped()
  }

  #dueAt(): number {
    if (this.#isHurried || this.#text.isLeftBehind || this.#isLeft) return Number.NEGATIVE_INFINITY
    if (!this.#text.isPending) return this.#notices.heardAt ?? this.#lookAt
    const typed = this.#text.dueAt(this.#context.timing)
    return this.#notices.isByProgram ? Math.min(typed, this.#operations.flushedAt + noticePauseMs) : typed
  }

  // Whether the last editor has left before the last text or the last version was stored.
  get #isLeft(): boolean {
    return !this.isDone && this.live.getConnectionsCount() === 0
  }

  // One operation. What happens meanwhile asks for another operation.
  async #operate(): Promise<void> {
    const notice = this.#notices.take()
    this.#isHurried = false
    this.#lookAt = performance.now() + lookMs
    try {
      const isByProgram = notice !== null && this.#notices.isNewByProgram(notice)
      // Relayed text is stored at once when a program may have moved its block.
      const mustFlush = this.hasText || this.#isLeft || (isByProgram && this.#text.isRelayed)
      // After notifications were missed, most documents have not changed.
      const isBehind = isByProgram && Number.isFinite(notice.bodySeq)
      const isLast = this.live.getConnectionsCount() === 0
      const hasFollowed = await (mustFlush ? this.#operations.flush({ isLast }) : this.#operations.sync({ isBehind }))
      if (notice !== null && hasFollowed) this.#context.metrics.followed((performance.now() - notice.at) / 1000)
      this.#notices.forgetKnown()
      if (this.#replica.isLogLong) await this.#operations.compact()
    } catch (error) {
      if (notice !== null) this.#notices.giveBack(notice)
      throw error
    }
  }

  #failed(error: unknown): { isRefusal: boolean } {
    if (this.#isClosed) return { isRefusal: false }
    const reason: ErrorCode = error instanceof Refusal ? error.code : 'service_unavailable'
    const block = error instanceof RefusedBody ? error.block : null
    if (reason === 'document_not_found') this.#deleted()
    // The watch of the database logs its outages, once for all documents.
    else if (this.#schedule.failures === 1 && !isOutage(error)) {
      const { id: document_id, workspace_id } = this.key
      const message = 'an open document could not be stored or read'
      this.#context.log.warn({ err: error, document_id, workspace_id, block_id: block?.block_id }, message)
    }
    if (this.#text.isPending) this.#status.tellUnsaved(reason, block)
    const isRefusal = reason !== 'service_unavailable'
    if (isRefusal) this.#text.refused(reason)
    return { isRefusal }
  }

  // Nobody can store text into a deleted document. A restored document has the text that was saved before.
  #deleted(): void {
    this.close()
    this.#onDeleted()
  }
}

// What people typed and what was rescued for them came from editors of this process.
function sourceOf(origin: unknown): UpdateSource {
  const { kind, process } = originOf(origin)
  if (process !== null) return { process }
  return kind === 'stored' ? 'stored' : 'editor'
}
