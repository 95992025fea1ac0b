import { type Connection, MessageType } from '@hocuspocus/server'
import { createDecoder, readVarString, readVarUint } from 'lib0/decoding'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import { messageYjsSyncStep1, messageYjsUpdate } from 'y-protocols/sync'
import { ClosingError, tryAgainLater } from './closing.ts'
import { Denial } from './denial.ts'
import { MessageTurns } from './message-turns.ts'
import type { CollabMetrics } from './metrics.ts'
import type { ConnectionContext } from './protocol-server.ts'

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
   * Resolves when a message may be handled; `end` is to be called after that. Throws a ClosingError when the message is
   * not to be handled: its socket was told to close, or its user asks too often.
   */
  async begin(connection: Connection<ConnectionContext>, message: Uint8Array): Promise<void> {
    const { socket, editor } = connection.context
    if (!socket.isClosing && isQuestion(message, connection) && !(await this.#isCounted(editor.userId))) {
      this.#metrics.cut('overloaded')
      socket.close(...tryAgainLater)
    }
    if (socket.isClosing) throw new ClosingError('service_unavailable')
    await this.#turns.begin(socket)
    if (!socket.isClosing) return
    this.end()
    throw new ClosingError('service_unavailable')
  }

  /** Is told that a message was handled. */
  end(): void {
    this.#turns.end()
  }

  #isCounted(userId: string): Promise<boolean> {
    return this.#questions.consume(userId).then(
      () => true,
      () => false,
    )
  }
}

// Whether a message makes the process read the whole document, or all cursors. What an editor sends who may only read
// is compared with the document.
function isQuestion(message: Uint8Array, { readOnly }: { readOnly: boolean }): boolean {
  const decoder = createDecoder(message)
  readVarString(decoder)
  const type = readVarUint(decoder)
  if (type === MessageType.QueryAwareness) return true
  if (type !== MessageType.Sync && type !== MessageType.SyncReply) return false
  const syncType = readVarUint(decoder)
  return syncType === messageYjsSyncStep1 || (readOnly && syncType !== messageYjsUpdate)
}
