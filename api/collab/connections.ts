import { OutgoingMessage } from '@hocuspocus/server'
import type { Config } from '../../shared/config/config.ts'
import type { Database } from '../../shared/database/database.ts'
import { Wakeup } from '../../shared/database/listener.ts'
import { isOutage } from '../../shared/database/outages.ts'
import { editorStandings } from '../../shared/documents/editor-standings.ts'
import type { Logger } from '../../shared/process/log.ts'
import { closeConnection } from './closing.ts'
import { Counts } from './counts.ts'
import { Denial, type DenialReason } from './denial.ts'
import type { EditorConnection } from './editor.ts'
import type { CollabMetrics } from './metrics.ts'
import { rightsOf } from './rights.ts'

// The most documents that a client can open through one socket.
const documentsPerSocket = 100
// The share of all connections that one user may have. The documents of one socket are always allowed.
const shareOfUser = 1 / 2
// The longest age of the rights that a connection relies on. Shorter heartbeats shorten it.
const longestDoubtSeconds = 15

type Context = {
  database: Database
  config: Limits
  log: Logger
  metrics: Pick<CollabMetrics, 'cut'>
  /** Stores the text of a document, as far as this takes no longer than a moment. */
  settle: (documentId: string) => Promise<void>
}

type Limits = Pick<Config, 'COLLAB_MAX_CONNECTIONS' | 'COLLAB_MAX_CONNECTIONS_PER_DOCUMENT' | 'SSE_HEARTBEAT_SECONDS'>

/** The most connections to this process that one user may have. */
export function mostOfUser({ COLLAB_MAX_CONNECTIONS: most }: Pick<Config, 'COLLAB_MAX_CONNECTIONS'>): number {
  return Math.max(documentsPerSocket, most * shareOfUser)
}

/**
 * The connections of this process: how many there are, and whether their users may still do what they could. The rights
 * of all connections are read again by one statement, three times in the time within which a revocation takes effect.
 */
export class Connections {
  readonly #context: Context
  readonly #open = new Set<EditorConnection>()
  /** The connections to each document, in the order in which they were opened. */
  readonly #ofDocument = new Map<string, Set<EditorConnection>>()
  readonly #ofSocket = new Counts()
  readonly #ofUser = new Counts()
  readonly #checks: Wakeup
  #timer: NodeJS.Timeout | undefined

  constructor(context: Context) {
    this.#context = context
    this.#checks = new Wakeup(
      () => this.#check(),
      (err) => {
        // The watch of the database logs its outages.
        if (!isOutage(err)) context.log.warn({ err }, 'the rights of connections could not be read')
      },
    )
  }

  /** The number of open connections. */
  get size(): number {
    return this.#open.size
  }

  /** Throws a Denial when one more connection of the socket would be too many. */
  admit(socketId: string): void {
    const isFull =
      this.size >= this.#context.config.COLLAB_MAX_CONNECTIONS || this.#ofSocket.of(socketId) >= documentsPerSocket
    if (isFull) throw new Denial('too_many_connections')
  }

  /**
   * Throws a Denial when one more connection of the user, or of the user to the document, would be too many. Returns
   * the connection that has to make room in a full document: the newest of the user who has most. Undefined while there
   * is room.
   */
  admitUser({ userId, documentId }: { userId: string; documentId: string }): EditorConnection | undefined {
    if (this.#ofUser.of(userId) >= mostOfUser(this.#context.config)) throw new Denial('too_many_connections')
    const open = [...(this.#ofDocument.get(documentId) ?? [])]
    if (open.length < this.#context.config.COLLAB_MAX_CONNECTIONS_PER_DOCUMENT) return undefined
    const byUser = Map.groupBy(open, ({ context }) => context.editor.userId)
    const [most = []] = [...byUser.values()].sort((a, b) => b.length - a.length)
    if (most.length <= (byUser.get(userId)?.length ?? 0) + 1) throw new Denial('too_many_connections')
    return most.at(-1)
  }

  /**
   * Takes up a connection that is open, until it closes. Connections are opened at the same time, so the limits are
   * looked at once more: a connection that is one too many is closed, this one or that of another user.
   */
  add(connection: EditorConnection): void {
    const documentId = connection.document.name
    const { socketId } = connection
    const { userId } = connection.context.editor
    try {
      this.admit(socketId)
      const tooMany = this.admitUser({ userId, documentId })
      if (tooMany !== undefined) closeConnection(tooMany, 'too_many_connections')
    } catch (error) {
      if (!(error instanceof Denial)) throw error
      closeConnection(connection, error.reason)
      return
    }
    this.#open.add(connection)
    const ofDocument = this.#ofDocument.get(documentId) ?? new Set()
    this.#ofDocument.set(documentId, ofDocument.add(connection))
    this.#ofSocket.add(socketId, 1)
    this.#ofUser.add(userId, 1)
    connection.onClose(() => {
      if (!this.#open.delete(connection)) return
      ofDocument.delete(connection)
      if (ofDocument.size === 0) this.#ofDocument.delete(documentId)
      this.#ofSocket.add(socketId, -1)
      this.#ofUser.add(userId, -1)
    })
  }

  /** Begins to read the rights of all connections at an interval. */
  watch(): void {
    const doubtSeconds = Math.min(this.#context.config.SSE_HEARTBEAT_SECONDS, longestDoubtSeconds)
    this.#timer = setInterval(() => this.check(), (doubtSeconds * 1000) / 3)
  }

  /** Reads the rights of all connections as soon as possible; with the id of a user, only if the user has one. */
  check(userId?: string): void {
    if (userId === undefined || this.#ofUser.of(userId) > 0) this.#checks.wake()
  }

  /** Stops reading the rights of connections. The connections stay open. */
  close(): void {
    clearInterval(this.#timer)
    void this.#checks.close()
  }

  /**
   * Reads the rights of all connections once. Closes a connection whose user may no longer read its document, and tells
   * a client whose user may now only read, or may write again. Before the end of a connection, its text is stored, so
   * that its editor learns this and does not take the text for lost.
   */
  async #check(): Promise<void> {
    const open = [...this.#open]
    if (open.length === 0) return
    const standings = await editorStandings(
      this.#context.database,
      open.map(({ context }) => context.editor),
    )
    const denials: Promise<void>[] = []
    for (const [index, connection] of open.entries()) {
      const standing = standings[index]
      if (standing === undefined || !this.#open.has(connection)) continue
      const { denied, readOnly } = rightsOf(standing)
      if (denied === null) setReadOnly(connection, readOnly)
      else denials.push(this.#deny(connection, denied))
    }
    await Promise.all(denials)
  }

  async #deny(connection: EditorConnection, reason: DenialReason): Promise<void> {
    this.#context.metrics.cut('revoked')
    await this.#context.settle(connection.document.name).finally(() => closeConnection(connection, reason))
  }
}

function setReadOnly(connection: EditorConnection, readOnly: boolean): void {
  if (connection.readOnly === readOnly) return
  connection.readOnly = readOnly
  // A provider takes this message as a new answer to its token, and tells the editor what it may do now.
  const message = new OutgoingMessage(connection.messageAddress).writeAuthenticated(readOnly)
  connection.send(message.toUint8Array())
  if (!readOnly) askForMissed(connection)
}

// What a client has typed while it could only read is still in its document, and later text cannot do without it.
function askForMissed(connection: EditorConnection): void {
  const message = new OutgoingMessage(connection.messageAddress).createSyncMessage()
  connection.send(message.writeFirstSyncStepFor(connection.document).toUint8Array())
}
