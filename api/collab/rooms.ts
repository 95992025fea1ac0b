import { type Connection, type Document, Hocuspocus } from '@hocuspocus/server'
import type { Config } from '../../shared/config/config.ts'
import type { Database } from '../../shared/database/database.ts'
import type { Logger } from '../../shared/process/log.ts'
import { authenticateEditor, Denial, type Editor } from './authenticate.ts'
import type { ClientSocket } from './client-socket.ts'
import type { DocumentStore } from './document-store.ts'
import type { CollabMetrics } from './metrics.ts'
import { OpenDocument } from './open-document.ts'

/** What the process knows of a connection: its socket, and its editor once the connection is authenticated. */
export type ConnectionContext = { socket: ClientSocket; editor: Editor }

type Parts = { database: Database; store: DocumentStore; metrics: CollabMetrics; log: Logger; config: Config }

// What a socket may send before it is authenticated. A provider sends its token, a state vector and its cursor.
const unauthenticated = {
  maxUnauthenticatedQueueSize: 1024 * 1024,
  maxUnauthenticatedQueueMessages: 200,
  maxPendingDocuments: 20,
}
// A socket without a message for so long is closed. Providers send their cursor every 15 s.
const silenceMs = 60_000

/** The rooms of this process: Hocuspocus speaks the protocol, and each of its documents has an OpenDocument. */
export class Rooms {
  readonly #parts: Parts
  readonly #hocuspocus: ProtocolServer
  readonly #open = new Map<string, OpenDocument>()
  #ending = false

  constructor(parts: Parts) {
    this.#parts = parts
    this.#hocuspocus = new ProtocolServer({
      quiet: true,
      timeout: silenceMs,
      ...unauthenticated,
      onAuthenticate: async (payload) => {
        const { token, documentName: documentId, connectionConfig, context } = payload
        const editor = await this.#denying(() => this.#authenticate({ token, documentId }))
        connectionConfig.readOnly = editor.readOnly
        context.socket.authenticated = true
        return { editor }
      },
      onLoadDocument: (payload) => this.#denying(() => this.#load(payload.document, payload.context.editor)),
      connected: async ({ connection }) => {
        const opened = this.#openedOf(connection)
        if (opened === undefined) connection.context.socket.close(...reset)
        else opened.greet(connection)
      },
      beforeSync: async ({ connection, type, payload }) => this.#checkUpdate({ connection, type, payload }),
      beforeUnloadDocument: ({ document }) => this.#unload(document),
    })
  }

  /** Serves a client until it closes its socket. */
  connect(socket: ClientSocket, request: Request): void {
    const client = this.#hocuspocus.handleConnection(socket, request, { socket } as ConnectionContext)
    socket.onMessage((message) => client.handleMessage(message))
    socket.onClose((code, reason) => client.handleClose({ code, reason }))
  }

  /** Tells the open document that a notification has named it. */
  notice(documentId: string): void {
    this.#open.get(documentId)?.notice()
  }

  /** Tells all open documents that notifications may have been missed. */
  noticeAll(): void {
    for (const opened of this.#open.values()) opened.notice()
  }

  get figures() {
    const documents = [...this.#open.values()]
    return {
      documents: documents.length,
      connections: documents.reduce((sum, { live }) => sum + live.getConnectionsCount(), 0),
      pendingBytes: documents.reduce((sum, { pendingBytes }) => sum + pendingBytes, 0),
    }
  }

  /** Refuses new connections. */
  end(): void {
    this.#ending = true
  }

  /** Resolves when the messages that have arrived on all connections are processed. */
  async processed(): Promise<void> {
    const connections = [...this.#open.values()].flatMap(({ live }) => live.getConnections())
    await Promise.all(connections.map((connection) => connection.waitForPendingMessages()))
  }

  /** Stores every open document. Returns the documents that could not be stored before the signal aborted. */
  async drain(signal: AbortSignal): Promise<OpenDocument[]> {
    const documents = [...this.#open.values()]
    const stored = await Promise.all(documents.map((opened) => opened.drain(signal)))
    return documents.filter((_, index) => !stored[index])
  }

  async #authenticate(named: { token: string; documentId: string }): Promise<Editor> {
    if (this.#ending) throw new Denial('service_unavailable')
    const { database, config } = this.#parts
    return authenticateEditor({ database, pepper: config.TOKEN_PEPPER }, named)
  }

  async #load(live: Document, editor: Editor): Promise<void> {
    const { store, metrics, log, config } = this.#parts
    const timing = { debounceMs: config.COLLAB_DEBOUNCE_MS, maxDebounceMs: config.COLLAB_MAX_DEBOUNCE_MS }
    try {
      const opened = await OpenDocument.open(live, {
        key: { workspace_id: editor.workspaceId, id: live.name },
        context: { store, metrics, log, timing },
        onUnused: () => void this.#hocuspocus.unloadDocument(live),
      })
      this.#open.set(live.name, opened)
    } catch (error) {
      // Hocuspocus forgets the document without stopping the timer of its awareness.
      live.destroy()
      throw error
    }
  }

  // Throwing keeps the document in memory.
  async #unload(document: Document): Promise<void> {
    const opened = this.#open.get(document.name)
    if (opened === undefined || opened.live !== document) return
    if (!opened.closed) {
      if (!opened.stored) {
        opened.hurry()
        throw new Veto()
      }
      await opened.compact().catch(() => {})
      if (!opened.stored || document.getConnectionsCount() > 0) throw new Veto()
    }
    opened.close()
    this.#open.delete(document.name)
  }

  #checkUpdate({ connection, type, payload }: { connection: Connection; type: number; payload: Uint8Array }): void {
    if (this.#openedOf(connection) === undefined) throw new Malformed()
    void type
    void payload
  }

  #openedOf({ document }: Connection): OpenDocument | undefined {
    const opened = this.#open.get(document.name)
    return opened?.live === document && !opened.closed ? opened : undefined
  }

  // Turns an unexpected error into a denial, since Hocuspocus prints errors and the provider needs a reason.
  async #denying<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (error instanceof Denial) throw error
      const { code } = error as { code?: unknown }
      if (code === 'document_not_found') throw new Denial('document_not_found')
      this.#parts.log.warn({ err: error }, 'a document could not be opened')
      throw new Denial('service_unavailable')
    }
  }
}

// The code and reason with which a socket is closed so that its provider connects again.
const reset = [4205, 'Reset Connection'] as const

// Both have no message, because Hocuspocus prints the messages of errors.
class Veto extends Error {}
class Malformed extends Error {
  readonly code = reset[0]
  readonly reason = reset[1]
}

/** Hocuspocus without its own way of storing documents. */
class ProtocolServer extends Hocuspocus<ConnectionContext> {
  override async storeDocumentHooks(): Promise<void> {}
}
