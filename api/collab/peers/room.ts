import type { Awareness } from 'y-protocols/awareness'
import { mergeUpdates } from '../../../shared/body/yjs/state.ts'
import { PeerAwareness } from './awareness.ts'
import { largestFrame } from './chunks.ts'
import type { Letter } from './outbox.ts'
import { type RelayedUpdate, UnstoredUpdates } from './unstored-updates.ts'
import type { Frame } from './wire.ts'

/** An open document, as the relay sees it. */
export type OpenRoom = {
  awareness: Awareness
  /** Applies an update that `process` has relayed to the live document. Throws when the update is malformed. */
  receive: (update: Uint8Array, process: string) => void
  /** The updates that were typed at this process and are not stored yet, in order. */
  pending: () => readonly Uint8Array[]
  /** Another process holds the document. */
  joined: (process: string) => void
  /** Another process has received what was sent to it. */
  heard: (process: string) => void
  /** Another process has closed the document or is gone. */
  left: (process: string) => void
  /** The process that relayed some of the unstored updates is gone: this process must store them. */
  takeOver: () => void
  /** The other processes have stored everything that they have relayed. */
  settled: () => void
}

/** The relayed updates that a flush of this process stores together with its own. */
export type RelayedForFlush = {
  updates: Uint8Array[]
  /** The id of the user who typed the last of the updates; empty when there are none. */
  typist: string
  /** To be called after the commit. */
  stored: () => void
}

// What waits to be sent to the members of a room.
type Waiting = { updates: Uint8Array[]; bytes: number; clients: Set<number>; stored: boolean }

/** A document of this process and the other processes that hold it, the members of the room. */
export class Room {
  readonly documentId: string
  readonly #open: OpenRoom
  readonly #awareness: PeerAwareness
  readonly #unstored = new UnstoredUpdates()
  readonly #onWaiting: () => void
  /** The members, and whether they have confirmed that they hold the document since the session was opened last. */
  readonly #members = new Map<string, boolean>()
  /** The members that get a greeting next, and whether they must answer it. */
  readonly #greetings = new Map<string, boolean>()
  #waiting = nothingWaits()
  /** The number and the user of the last update that was typed here. */
  #number = 0
  #typist = ''
  #storedUpTo = 0

  /** `onWaiting` is called when there is something to send. */
  constructor(documentId: string, options: { open: OpenRoom; onWaiting: () => void }) {
    this.documentId = documentId
    this.#open = options.open
    this.#onWaiting = options.onWaiting
    this.#awareness = new PeerAwareness(options.open.awareness, (clients) => {
      if (this.#members.size === 0) return
      for (const client of clients) this.#waiting.clients.add(client)
      this.#onWaiting()
    })
  }

  get members(): Iterable<string> {
    return this.#members.keys()
  }

  /** Relays an update that was typed at this process. Numbers grow from update to update. */
  typed(update: Uint8Array, { number, typist }: { number: number; typist: string }): void {
    this.#number = number
    this.#typist = typist
    if (this.#members.size === 0) return
    this.#waiting.bytes += update.length
    // What is too large to be relayed reaches the members through the log, once it is stored.
    if (this.#waiting.bytes > largestFrame) this.#waiting.updates = []
    else this.#waiting.updates.push(update)
    this.#onWaiting()
  }

  /** Whether there are relayed updates that are not known to be stored. */
  get holdsUnstored(): boolean {
    return !this.#unstored.isEmpty
  }

  /** The relayed updates for a flush that also stores everything that was typed here so far. */
  forFlush(): RelayedForFlush {
    const relayed = this.#unstored.all()
    const number = this.#number
    return {
      updates: relayed.map(({ update }) => update),
      typist: relayed.at(-1)?.typist ?? '',
      stored: () => {
        this.#unstored.remove(relayed)
        if (number <= this.#storedUpTo) return
        this.#storedUpTo = number
        if (this.#members.size === 0) return
        this.#waiting.stored = true
        this.#onWaiting()
      },
    }
  }

  /** Notes that another process holds the document. The process is sent a greeting, which it must answer. */
  joined(process: string): void {
    this.#members.set(process, true)
    this.#open.joined(process)
    this.#greetings.set(process, true)
    this.#onWaiting()
  }

  /** Notes that another process has sent a greeting. It gets a greeting if it wants an answer. */
  greeted(process: string, { answer }: { answer: boolean }): void {
    this.#members.set(process, true)
    this.#open.joined(process)
    this.#open.heard(process)
    if (!answer) return
    if (!this.#greetings.has(process)) this.#greetings.set(process, false)
    this.#onWaiting()
  }

  /** Sends another process a greeting, which it must answer. */
  ask(process: string): void {
    if (!this.#members.has(process)) return
    this.#greetings.set(process, true)
    this.#onWaiting()
  }

  /** Takes an update from another process. Throws when the update is malformed. */
  receiveUpdate(process: string, relayed: RelayedUpdate): void {
    this.#open.receive(relayed.update, process)
    this.#unstored.add(process, relayed)
    if (!this.#members.has(process)) this.#left(process)
  }

  /** Takes awareness states from another process. Throws when the update is malformed. */
  receiveAwareness(process: string, update: Uint8Array): void {
    if (this.#members.has(process)) this.#awareness.receive(process, update)
  }

  /** Notes that another process has stored what it relayed up to a number. */
  receiveStored(process: string, upTo: number): void {
    if (!this.#members.has(process)) return
    const { holdsUnstored } = this
    this.#unstored.storedUpTo(process, upTo)
    if (holdsUnstored && !this.holdsUnstored) this.#open.settled()
  }

  /** Notes that another process has closed the document or is gone. */
  left(process: string): void {
    if (!this.#members.delete(process)) return
    this.#greetings.delete(process)
    this.#awareness.remove(process)
    this.#left(process)
  }

  /**
   * Notes that the session was opened again, so members may have left unheard. Each must confirm that it holds the
   * document.
   */
  doubtMembers(): void {
    this.#waiting = nothingWaits()
    this.#greetings.clear()
    for (const process of this.#members.keys()) this.#members.set(process, false)
  }

  /** Counts the members that have not confirmed as having left. */
  dropDoubtful(): void {
    for (const [process, isConfirmed] of this.#members) if (!isConfirmed) this.left(process)
  }

  /** Returns what the members must be sent now. Members that are greeted get their greeting first. */
  take(): Letter[] {
    const waiting = this.#waiting
    this.#waiting = nothingWaits()
    const greetings = [...this.#greetings]
    this.#greetings.clear()
    const frames = [
      ...this.#updateFrames(waiting.updates),
      ...this.#awarenessFrames(waiting.clients),
      ...(waiting.stored ? this.#storedFrames() : []),
    ]
    return [
      ...greetings.map(([process, answer]) => ({ to: [process], frames: this.#greeting(answer) })),
      ...(frames.length > 0 ? [{ to: [...this.#members.keys()], frames }] : []),
    ]
  }

  /** Stops watching the awareness. */
  close(): void {
    this.#awareness.close()
  }

  #left(process: string): void {
    this.#open.left(process)
    if (this.#unstored.senderGone(process)) this.#open.takeOver()
  }

  #greeting(answer: boolean): Frame[] {
    const { documentId } = this
    return [
      { kind: 'greeting', documentId, answer },
      ...this.#storedFrames(),
      ...this.#updateFrames(this.#open.pending()),
      ...this.#awarenessFrames(this.#awareness.local),
    ]
  }

  // What is too large to be relayed is not merged either: the members get it through the log.
  #updateFrames(updates: readonly Uint8Array[]): Frame[] {
    const bytes = updates.reduce((sum, { byteLength }) => sum + byteLength, 0)
    if (updates.length === 0 || bytes > largestFrame) return []
    const update = mergeUpdates(updates)
    return [{ kind: 'update', documentId: this.documentId, number: this.#number, typist: this.#typist, update }]
  }

  #awarenessFrames(clients: Iterable<number>): Frame[] {
    const { documentId } = this
    return this.#awareness.encode(clients).map((update) => ({ kind: 'awareness', documentId, update }))
  }

  #storedFrames(): Frame[] {
    return [{ kind: 'stored', documentId: this.documentId, upTo: this.#storedUpTo }]
  }
}

function nothingWaits(): Waiting {
  return { updates: [], bytes: 0, clients: new Set(), stored: false }
}
