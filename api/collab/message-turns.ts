import type { ClientSocket } from './client-socket.ts'

// The milliseconds of each turn of the event loop in which messages are handled.
const turnMs = 8

/**
 * Shares the event loop between the messages of all sockets, timers and the database. When the messages of one turn of
 * the event loop have taken their time, all further messages wait for later turns, and sockets take turns then. A
 * socket is not read while one of its messages waits, so that what waits stays small.
 */
export class MessageTurns {
  readonly #waiting = new Map<ClientSocket, (() => void)[]>()
  #isTurnOpen = false
  #endsAt = 0
  #isBusy = false

  /** Resolves when a message of the socket may be handled. `end` has to be called after it, in the same turn. */
  async begin(socket: ClientSocket): Promise<void> {
    if (!this.#isTurnOpen) this.#open()
    if (!this.#isBusy && this.#waiting.size === 0 && performance.now() < this.#endsAt) {
      this.#isBusy = true
      return
    }
    const { promise, resolve } = Promise.withResolvers<void>()
    const others = this.#waiting.get(socket)
    if (others !== undefined) others.push(resolve)
    else {
      socket.pause()
      this.#waiting.set(socket, [resolve])
    }
    await promise
  }

  /** Lets the next message go on when there is time left in this turn. */
  end(): void {
    this.#isBusy = false
    if (performance.now() < this.#endsAt) this.#next()
  }

  #open(): void {
    this.#isTurnOpen = true
    this.#isBusy = false
    this.#endsAt = performance.now() + turnMs
    setImmediate(() => {
      this.#isTurnOpen = false
      if (this.#waiting.size === 0) return
      this.#open()
      this.#next()
    })
  }

  #next(): void {
    const [first] = this.#waiting
    if (first === undefined) return
    const [socket, messages] = first
    this.#waiting.delete(socket)
    const message = messages.shift()
    // A socket whose messages go on waiting comes after all others.
    if (messages.length > 0) this.#waiting.set(socket, messages)
    else socket.resume()
    this.#isBusy = true
    message?.()
  }
}
