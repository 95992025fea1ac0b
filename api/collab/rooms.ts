import type { IncomingMessage } from 'node:http'
import type { Connection, Document, onAuthenticatePayload } from '@hocuspocus/server'
import type { ChangedBody } from '../../shared/body/live/notifications.ts'
import type { Config } from '../../shared/config/config.ts'
import type { Database } from '../../shared/database/database.ts'
import { isOutage } from '../../shared/database/outages.ts'
import { Refusal } from '../../shared/errors/errors.ts'
import type { Logger } from '../../shared/process/log.ts'
import type { RateLimiter } from '../http/rate-limit.ts'
import { authenticateEditor } from './authenticate.ts'
import { isTooLargeAwareness, nameStates } from './awareness.ts'
import { AwarenessPace } from './awareness-pace.ts'
import { missedChange } from './change-notices.ts'
import { type ClientSocket, mostMessageBytes } from './client-socket.ts'
import { closeConnection, reset, SilentError } from './closing.ts'
import { Connections, mostOfUser } from './connections.ts'
import { Denial } from './denial.ts'
import type { DocumentStore } from './document-operations.ts'
import type { Editor } from './editor.ts'
import { MessageGate } from './message-gate.ts'
import type { CollabMetrics } from './metrics.ts'
import { OpenDocument, type OpenDocumentContext } from './open-document.ts'
import type { Peers } from './peers/peers.ts'
import { type ConnectionContext, ProtocolServer, sendingBack, webRequest } from './protocol-server.ts'
import { checkSync } from './sync-check.ts'
import { PendingRoom } from './unstored-text.ts'
import { UpdateGate } from './update-gate.ts'

type Parts = {
  database: Database
  store: DocumentStore
  peers: Peers
  rateLimiter: RateLimiter
  metrics: CollabMetrics
  log: Logger
  config: Config
}

// What a socket may send before its connection is authenticated and the document is loaded. A provider sends its token,
// a state vector, its cursor, and what is typed meanwhile.
const unauthenticated = {
  maxUnauthenticatedQueueSize: 1024 * 1024,
  maxUnauthenticatedQueueMessages: 1000,
  maxPendingDocuments: 20,
}
// The milliseconds without a message after which a socket is closed. Providers send their cursor every 15 s.
const silenceMs = 60_000
// For how long the end of a connection waits until its text is stored.
const settleMs = 700

/**
 * The rooms of this process. Hocuspocus speaks the protocol and knows the connections; each of its documents has an
 * OpenDocument, which stores what is typed.
 */
export class Rooms {
  readonly #parts: Parts
  readonly #hocuspocus: ProtocolServer
  readonly #connections: Connections
  readonly #gate: MessageGate
  readonly #updates: UpdateGate
  readonly #open = new Map<string, OpenDocument>()
  readonly #context: OpenDocumentContext
  readonly #paces = new WeakMap<Connection, AwarenessPace>()
  #isEnding = false

  constructor(parts: Parts) {
    const { store, peers, metrics, log, config } = parts
    this.#parts = parts
    const settle = async (documentId: string) => {
      await this.#open.get(documentId)?.drain(AbortSignal.timeout(settleMs))
    }
    this.#connections = new Connections({ ...parts, settle })
    this.#connections.watch()
    this.#gate = new MessageGate({ metrics, mostOfUser: mostOfUser(config) })
    this.#updates = new UpdateGate(this.#gate)
    const { COLLAB_DEBOUNCE_MS: debounceMs, COLLAB_MAX_DEBOUNCE_MS: maxDebounceMs } = config
    // A message is at most as large as the largest body, and what is never stored need not wait.
    const mostPending = 2 * Math.max(config.DOCUMENT_MAX_BYTES, mostMessageBytes)
    const timing = { debounceMs, maxDebounceMs, snapshotMs: config.COLLAB_SNAPSHOT_MS }
    this.#context = { store, peers, metrics, log, timing, pending: new PendingRoom(), mostPending }
    this.#hocuspocus = new ProtocolServer({
      quiet: true,
      timeout: silenceMs,
      ...unauthenticated,
      onAuthenticate: (payload) => sendingBack(payload.context, () => this.#denying(() => this.#authenticate(payload))),
      onLoadDocument: ({ document, context }) => this.#denying(() => this.#load(document, context.editor)),
      connected: async ({ connection }) => this.#welcome(connection),
      beforeHandleMessage: ({ connection, update }) => this.#gate.begin(connection, update),
      afterHandleMessage: async () => this.#gate.end(),
      beforeSync: ({ connection, type, payload }) =>
        checkSync(connection, { opened: this.#openedOf(connection), type, payload, updates: this.#updates, metrics }),
      beforeHandleAwareness: async ({ states, connection, document }) => {
        if (connection === undefined) return
        nameStates({ states, connection, document })
        this.#paceOf(connection).hold(states)
      },
      beforeUnloadDocument: ({ document }) => this.#unload(document),
    })
  }

  /** Serves a client until it closes its socket. */
  connect(socket: ClientSocket, request: IncomingMessage): void {
    const context = { socket, origin: request.headers.origin ?? null }
    // The editor is added when the connection is authenticated.
    const client = this.#hocuspocus.handleConnection(socket, webRequest(request), context as ConnectionContext)
    socket.onMessage((message) => {
      if (!isTooLargeAwareness(message)) client.handleMessage(message)
    })
    socket.onClose((code, reason) => client.handleClose({ code, reason }))
  }

  /** Reads the rights of all connections now; with the id of a user, only if the user has one. */
  checkRights(userId?: string): void {
    this.#connections.check(userId)
  }

  /** Tells an open document that its body has changed. */
  notice(changed: ChangedBody): void {
    this.#open.get(changed.documentId)?.notice(changed)
  }

  /** Tells all open documents that notifications may have been missed. */
  noticeAll(): void {
    for (const opened of this.#open.values()) opened.notice(missedChange)
  }

  get figures() {
    return {
      documents: this.#open.size,
      connections: this.#connections.size,
      pendingBytes: this.#context.pending.bytes,
    }
  }

  /** Whether there is text that is not stored and that no editor has any more: its editors have left. */
  get holdsTextAlone(): boolean {
    return [...this.#open.values()].some(({ live, hasText }) => hasText && live.getConnectionsCount() === 0)
  }

  /** Opens no more documents. Resolves when the messages that have arrived are processed. */
  async end(): Promise<void> {
    this.#isEnding = true
    const connections = [...this.#open.values()].flatMap(({ live }) => live.getConnections())
    await Promise.all(connections.map((connection) => connection.waitForPendingMessages()))
  }

  /** Stores every open document. Returns the documents that could not be stored before the signal aborted. */
  async drain(signal: AbortSignal): Promise<OpenDocument[]> {
    const documents = [...this.#open.values()]
    const stored = await Promise.all(documents.map((opened) => opened.end(signal)))
    return documents.filter((_, index) => !stored[index])
  }

  /** Forgets all documents, and what is pending in them. */
  close(): void {
    this.#connections.close()
    for (const opened of this.#open.values()) {
      opened.close()
      opened.live.destroy()
    }
  }

  async #authenticate({
    token,
    documentName: documentId,
    socketId,
    connectionConfig,
    context: client,
  }: onAuthenticatePayload) {
    if (this.#isEnding) throw new Denial('service_unavailable')
    this.#connections.admit(socketId)
    const { origin, socket } = client as ConnectionContext
    const context = { ...this.#parts, admitUser: (userId: string) => this.#admitUser({ userId, documentId }) }
    const editor = await authenticateEditor(context, { token, documentId, origin, address: socket.address })
    connectionConfig.readOnly = editor.readOnly
    socket.authenticated()
    return { editor }
  }

  async #admitUser(attempt: { userId: string; documentId: string }): Promise<void> {
    this.#connections.admitUser(attempt)
    await this.#gate.admit(attempt.userId)
  }

  async #load(live: Document, editor: Editor): Promise<void> {
    try {
      const opened = await OpenDocument.open(live, {
        key: { workspace_id: editor.workspaceId, id: editor.documentId },
        context: this.#context,
        onUnused: () => void this.#hocuspocus.unloadDocument(live),
        onDeleted: () => this.#closeDeleted(live),
      })
      this.#open.set(live.name, opened)
    } catch (error) {
      // Hocuspocus forgets the document, but the timer of its awareness would go on.
      live.destroy()
      throw error
    }
  }

  #welcome(connection: Connection<ConnectionContext>): void {
    const opened = this.#openedOf(connection)
    // The document was unloaded while the connection was made. The client opens it anew.
    if (opened === undefined) {
      connection.context.socket.close(...reset)
      return
    }
    connection.context.socket.use(connection)
    this.#connections.add(connection)
    opened.greet(connection)
  }

  #paceOf(connection: Connection<ConnectionContext>): AwarenessPace {
    const pace = this.#paces.get(connection) ?? new AwarenessPace(connection)
    this.#paces.set(connection, pace)
    return pace
  }

  // Throwing keeps the document in memory.
  async #unload(live: Document): Promise<void> {
    const opened = this.#open.get(live.name)
    if (opened === undefined || opened.live !== live) return
    if (opened.isDone && !opened.isClosed && !this.#isEnding) {
      await opened.compact()
    }
    if (!opened.isDone) {
      opened.hurry()
      throw new SilentError()
    }
    if (opened.isHeld || live.getConnectionsCount() > 0) throw new SilentError()
    opened.close()
    this.#open.delete(live.name)
  }

  #closeDeleted(live: Document): void {
    for (const connection of live.getConnections()) {
      this.#parts.metrics.cut('deleted')
      closeConnection(connection, 'document_not_found')
    }
    void this.#hocuspocus.unloadDocument(live)
  }

  #openedOf({ document }: Connection<ConnectionContext>): OpenDocument | undefined {
    const opened = this.#open.get(document.name)
    return opened?.live === document && !opened.isClosed ? opened : undefined
  }

  // Gives the client a reason.
  async #denying<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      const denial = denialOf(error)
      if (denial !== error && denial.reason === 'service_unavailable' && !isOutage(error)) {
        this.#parts.log.warn({ err: error }, 'a document could not be opened')
      }
      throw denial
    }
  }
}

function denialOf(error: unknown): Denial {
  if (error instanceof Denial) return error
  const isGone = error instanceof Refusal && error.code === 'document_not_found'
  return new Denial(isGone ? 'document_not_found' : 'service_unavailable')
}
