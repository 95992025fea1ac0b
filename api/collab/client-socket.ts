import type { Duplex } from 'node:stream'
import type { Connection } from '@hocuspocus/server'
import type { RawData, WebSocket } from 'ws'
import type { CollabMetrics } from './metrics.ts'

/** The most bytes of one message of a client. */
export const mostMessageBytes = 5 * 1024 * 1024
// The bytes that may wait for a client. Above this limit the next message cuts the client off.
const mostWaitingBytes = 16 * 1024 * 1024
// A client is slow when more than so many bytes wait for it and it has read nothing for `patienceMs`.
const slowBytes = 64 * 1024
const patienceMs = 10_000
// The milliseconds that a socket has to authenticate a connection, and for which it may be open without a connection.
const authenticationMs = 15_000
const mostUnusedMs = 60_000

/**
 * The socket of one client, as Hocuspocus uses it. Counts bytes and cuts off a client that does not keep up: the
 * client connects again and gets what it lacks. So a slow client costs bounded memory and delays nobody else.
 */
export class ClientSocket {
  readonly #socket: WebSocket
  /** The connection below the WebSocket. */
  readonly #stream: Duplex
  #isCorked = false
  readonly #metrics: CollabMetrics
  /** The address of the client, as the key of limits. */
  readonly address: string
  #isAuthenticated = false
  #connections = 0
  /** Since when no connection is open, in milliseconds of `performance.now()`. */
  #unusedSince = performance.now()
  #isClosing = false
  #pauses = 0
  #sent = 0
  #read = 0
  #readAt = performance.now()

  constructor(
    socket: WebSocket,
    { stream, address, metrics }: { stream: Duplex; address: string; metrics: CollabMetrics },
  ) {
    this.#socket = socket
    this.#stream = stream
    this.address = address
    this.#metrics = metrics
  }

  /** Whether a connection to a document is open. */
  get isUsed(): boolean {
    return this.#connections > 0
  }

  /** Notes that the client was allowed to open a document, which may take a while. */
  authenticated(): void {
    this.#isAuthenticated = true
    this.#unusedSince = performance.now()
  }

  /** Notes that a connection to a document is open, until it closes. */
  use(connection: Pick<Connection, 'onClose'>): void {
    this.#connections += 1
    connection.onClose(() => {
      this.#connections -= 1
      this.#unusedSince = performance.now()
    })
  }

  get readyState(): number {
    return this.#socket.readyState
  }

  /** Whether this process has told the client to close, or has cut it off. Its messages are not handled any more. */
  get isClosing(): boolean {
    return this.#isClosing
  }

  /** Calls `handle` with each binary message. A text message closes the socket, since the protocol has none. */
  onMessage(handle: (message: Uint8Array) => void): void {
    this.#socket.on('message', (data: RawData, isBinary) => {
      if (this.#isClosing) return
      if (!isBinary) {
        this.close(1003, 'Unsupported Data')
        return
      }
      const message = data as Buffer
      this.#metrics.bytes('in', message.byteLength)
      handle(message)
    })
  }

  /** Calls `handle` once, when the socket is closed. */
  onClose(handle: (code: number, reason: string) => void): void {
    this.#socket.on('close', (code, reason) => handle(code, reason.toString()))
    // An error, such as a message that is too large, is followed by `close`.
    this.#socket.on('error', () => {})
  }

  send(message: Uint8Array): void {
    if (this.#socket.bufferedAmount > mostWaitingBytes) {
      this.cut('slow')
      return
    }
    this.#sent += message.byteLength
    this.#metrics.bytes('out', message.byteLength)
    this.#cork()
    this.#socket.send(message)
  }

  /** Reads nothing from the client until each `pause` is followed by a `resume`. */
  pause(): void {
    this.#pauses += 1
    this.#socket.pause()
  }

  resume(): void {
    this.#pauses -= 1
    if (this.#pauses === 0) this.#socket.resume()
  }

  close(code = 1000, reason = ''): void {
    this.#isClosing = true
    this.#socket.close(code, reason)
  }

  /** Ends the connection at once, without a closing handshake. */
  cut(reason: 'slow' | 'unauthenticated' | 'unused'): void {
    if (this.#socket.readyState === this.#socket.CLOSED) return
    this.#metrics.cut(reason)
    this.terminate()
  }

  /** Ends the connection at once, as the end of the process does. */
  terminate(): void {
    this.#isClosing = true
    this.#socket.terminate()
  }

  /**
   * Cuts off a client that reads nothing although messages wait for it, and a client that has no document open. The
   * server calls this function about every second.
   */
  check(now: number): void {
    const unusedMs = this.isUsed ? 0 : now - this.#unusedSince
    if (!this.#isAuthenticated && unusedMs > authenticationMs) this.cut('unauthenticated')
    else if (unusedMs > mostUnusedMs) this.cut('unused')
    const waiting = this.#socket.bufferedAmount
    const read = this.#sent - waiting
    if (waiting < slowBytes || read > this.#read) this.#readAt = now
    this.#read = read
    if (now - this.#readAt > patienceMs) this.cut('slow')
  }

  // Sends all messages of one turn of the event loop by one system call. An update and the message that it is stored
  // often belong together.
  #cork(): void {
    if (this.#isCorked) return
    this.#isCorked = true
    this.#stream.cork()
    setImmediate(() => {
      this.#isCorked = false
      this.#stream.uncork()
    })
  }
}
