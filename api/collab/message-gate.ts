import { type Connection, MessageType } from '@hocuspocus/server'
import { createDecoder, readVarString, readVarUint } from 'lib0/decoding'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import { messageYjsSyncStep1, messageYjsUpdate } from 'y-protocols/sync'
import { encodeStateVector } from 'yjs'
import type { ClientSocket } from './client-socket.ts'
import { reset, SilentError, tryAgainLater } from './closing.ts'
import { Denial } from './denial.ts'
import { MessageTurns } from './message-turns.ts'
import type { CollabMetrics } from './metrics.ts'
import type { ConnectionContext } from './protocol-server.ts'

// The most clients that a state vector may have beyond that of the document, and the most bytes of each.
const mostNewClients = 1000
const bytesOfClient = 16

/**
 * Decides which messages of open connections are handled, and when. A question costs time in proportion to the whole
 * document, although it has some bytes, so that the questions of each user are counted.
 */
export class MessageGate {
  readonly #turns = new MessageTurns()
  readonly #questions: RateLimiterMemory
  readonly #metrics: Pick<CollabMetrics, 'cut'>

  /**
   * `mostOfUser` is the most connections of one user. Opening a document and asking for its content count together, and
   * a user may do so twice as often in a minute. So all connections of a user can come again.
   */
  constructor({ metrics, mostOfUser }: { metrics: Pick<CollabMetrics, 'cut'>; mostOfUser: number }) {
    this.#questions = new RateLimiterMemory({ points: 2 * mostOfUser, duration: 60 })
    this.#metrics = metrics
  }

  /** Counts that a user opens a document. Throws a Denial when the user has done so too often. */
  async admit(userId: string): Promise<void> {
    if (!(await this.#isCounted(userId))) throw new Denial('rate_limited')
  }

  /**
   * Resolves when a message may be handled; `end` is to be called after that. Throws a SilentError when the message is
   * not to be handled: its socket was told to close, its user asks too often, or no editor asks like this.
   */
  async begin(connection: Connection<ConnectionContext>, message: Uint8Array): Promise<void> {
    const { socket, editor } = connection.context
    const question = socket.isClosing ? null : questionOf(message, connection)
    if (question === 'what is missing' && message.byteLength > longestStateVector(connection)) {
      this.#metrics.cut('malformed')
      socket.close(...reset)
    } else if (question !== null && !(await this.#isCounted(editor.userId))) {
      this.#sendAway(socket)
    }
    if (socket.isClosing) throw new SilentError()
    await this.#turns.begin(socket)
    if (!socket.isClosing) return
    this.end()
    throw new SilentError()
  }

  /** Is told that a message was handled. */
  end(): void {
    this.#turns.end()
  }

  /** Does work for a message that takes long, while other messages are handled. Its socket is not read meanwhile. */
  async aside<T>({ context }: Connection<ConnectionContext>, work: () => Promise<T>): Promise<T> {
    const { socket } = context
    this.#turns.end()
    socket.pause()
    try {
      return await work()
    } finally {
      socket.resume()
      await this.#turns.begin(socket)
    }
  }

  #sendAway(socket: ClientSocket): void {
    this.#metrics.cut('overloaded')
    socket.close(...tryAgainLater)
  }

  #isCounted(userId: string): Promise<boolean> {
    return isConsumed(this.#questions, userId, 1)
  }
}

function isConsumed(limiter: RateLimiterMemory, userId: string, points: number): Promise<boolean> {
  return limiter.consume(userId, points).then(
    () => true,
    () => false,
  )
}

/** What a message makes the process read: the whole document, or all cursors. */
type Question = 'what is missing' | 'what is new' | 'cursors'

// What an editor sends who may only read is compared with the document.
function questionOf(message: Uint8Array, { readOnly }: { readOnly: boolean }): Question | null {
  const decoder = createDecoder(message)
  readVarString(decoder)
  const type = readVarUint(decoder)
  if (type === MessageType.QueryAwareness) return 'cursors'
  if (type !== MessageType.Sync && type !== MessageType.SyncReply) return null
  const syncType = readVarUint(decoder)
  if (syncType === messageYjsSyncStep1) return 'what is missing'
  return readOnly && syncType !== messageYjsUpdate ? 'what is new' : null
}

// Yjs reads a state vector as a whole, although a client knows few clients that the document does not know.
function longestStateVector({ document }: Connection<ConnectionContext>): number {
  return encodeStateVector(document).byteLength + bytesOfClient * mostNewClients
}
