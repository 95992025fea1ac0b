import type { Connection, Document } from '@hocuspocus/server'
import { decodeStateVector, encodeStateVector } from 'yjs'
import type { LongestChange } from '../../shared/body/live/flush.ts'
import type { LiveReplica } from '../../shared/body/live/replica.ts'
import type { LostText } from '../../shared/body/yjs/rescue.ts'
import type { ErrorCode } from '../../shared/errors/errors.ts'

/** What is stored of an open document, as far as this process knows, and what its editors have been told of it. */
export class SaveStatus {
  readonly #live: Document
  #version = ''
  #stateVector: Uint8Array = Uint8Array.of(0)
  #toldComplete = false

  constructor(live: Document, replica: LiveReplica) {
    this.#live = live
    this.read(replica)
  }

  /** The Yjs state vector of what is stored. */
  get stateVector(): Uint8Array {
    return this.#stateVector
  }

  /** Whether the live document has text beyond what is stored. */
  get isBehind(): boolean {
    const stored = decodeStateVector(this.#stateVector)
    const live = [...decodeStateVector(encodeStateVector(this.#live))]
    return live.some(([client, clock]) => clock > (stored.get(client) ?? 0))
  }

  /** Takes over what a replica knows after an operation. Returns whether the version of the body is another. */
  read({ version, stateVector }: LiveReplica): boolean {
    const isNew = version !== this.#version
    this.#version = version
    this.#stateVector = stateVector ?? this.#stateVector
    return isNew
  }

  /** Tells a new connection. `isComplete`: everything that this process has received is stored. */
  greet(connection: Connection, isComplete: boolean): void {
    connection.sendStateless(this.#message(isComplete))
  }

  /** Tells all editors. */
  tell(isComplete: boolean): void {
    this.#toldComplete = isComplete
    this.#live.broadcastStateless(this.#message(isComplete))
  }

  /** Tells all editors that everything is stored, unless the message before has said so. */
  tellComplete(): void {
    if (!this.#toldComplete) this.tell(true)
  }

  /** Tells all editors that a commit was refused, perhaps because of a block, or has failed. */
  tellUnsaved(reason: ErrorCode, block: LongestChange | null): void {
    this.#live.broadcastStateless(unsavedMessage(reason, block))
  }

  // A large state vector is told for the clients that are in the document now, which are those that show a cursor.
  get #toldStateVector(): Uint8Array {
    if (this.#stateVector.length <= largestStateVector) return this.#stateVector
    const { states } = this.#live.awareness
    const all = decodeStateVector(this.#stateVector)
    return encodeStateVector(new Map([...all].filter(([client]) => states.has(client))))
  }

  #message(complete: boolean): string {
    const state_vector = Buffer.from(this.#toldStateVector).toString('base64')
    return JSON.stringify({ type: 'saved', version: this.#version, complete, state_vector })
  }
}

// The most bytes of a state vector that all editors are told, with about a thousand clients.
const largestStateVector = 8 * 1024

/** The message to editors whose text is not stored. `reason` is a code of the error catalogue. */
export function unsavedMessage(reason: ErrorCode, block: LongestChange | null = null): string {
  return JSON.stringify({ type: 'unsaved', reason, ...block })
}

/** The message to the editor whose late text could not be put into its block any more. */
export function lostTextMessage({ block_id, text }: LostText): string {
  return JSON.stringify({ type: 'lost_text', block_id, text })
}
