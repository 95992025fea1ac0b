import { createEncoder, toUint8Array, writeVarString, writeVarUint } from 'lib0/encoding'
import { applyAwarenessUpdate } from 'y-protocols/awareness'
import { belongsTo, type ClientStates } from './awareness.ts'
import type { EditorConnection } from './editor.ts'

// The bytes of states that a connection may send in a second, and at once. Every other editor gets them.
const bytesPerSecond = 32 * 1024
const mostAtOnce = 2 * bytesPerSecond
// The pause, in milliseconds, after which a state that came too fast is tried again.
const pauseMs = 500

/**
 * Bounds how many bytes of awareness states one connection sends to all others. A state that comes too fast waits, and
 * a newer state of the same client takes its place. So others always see the newest state in the end.
 */
export class AwarenessPace {
  readonly #connection: EditorConnection
  readonly #waiting: ClientStates = new Map()
  #allowed = mostAtOnce
  #at = performance.now()
  #timer: NodeJS.Timeout | undefined

  constructor(connection: EditorConnection) {
    this.#connection = connection
  }

  /** Takes out of the states of a message those that have to wait. */
  hold(states: ClientStates): void {
    for (const [clientId, state] of states) {
      this.#waiting.delete(clientId)
      if (this.#take(state)) continue
      states.delete(clientId)
      this.#waiting.set(clientId, state)
      this.#timer ??= setTimeout(() => this.#retry(), pauseMs).unref()
    }
  }

  #take(state: Record<string, unknown>): boolean {
    const now = performance.now()
    this.#allowed = Math.min(mostAtOnce, this.#allowed + ((now - this.#at) * bytesPerSecond) / 1000)
    this.#at = now
    const { length } = JSON.stringify(state)
    if (length > this.#allowed) return false
    this.#allowed -= length
    return true
  }

  #retry(): void {
    this.#timer = undefined
    const waiting = new Map(this.#waiting)
    this.#waiting.clear()
    const { document } = this.#connection
    if (!document.hasConnection(this.#connection)) return
    this.hold(waiting)
    const { userId } = this.#connection.context.editor
    for (const [clientId, state] of waiting) {
      if (belongsTo(document, { clientId, userId })) this.#apply(clientId, state)
    }
  }

  // The clock is at most the clock with which the client sent the state, so the next state of the client is newer.
  #apply(clientId: number, state: Record<string, unknown>): void {
    const { awareness } = this.#connection.document
    const encoder = createEncoder()
    for (const number of [1, clientId, (awareness.meta.get(clientId)?.clock ?? 0) + 1]) writeVarUint(encoder, number)
    writeVarString(encoder, JSON.stringify(state))
    applyAwarenessUpdate(awareness, toUint8Array(encoder), { source: 'connection', connection: this.#connection })
  }
}
