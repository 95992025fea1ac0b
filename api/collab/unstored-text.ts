import type { ErrorCode } from '../../shared/errors/errors.ts'
import type { Relay } from './peers/peers.ts'
import type { PendingRoom } from './pending-room.ts'
import { type FlushPauses, PendingText } from './pending-text.ts'

// The bytes that people may type after a commit was refused. Deleting text takes few bytes.
const mostAfterRefusal = 256 * 1024

type Options = {
  workspaceId: string
  /** The room for pending text of all documents, and the most bytes of pending text in this document. */
  room: PendingRoom
  mostPending: number
}

/** The text that a flush stores. */
export type TextToStore = {
  updates: readonly Uint8Array[]
  /** The user who typed last; empty when nobody is known. */
  userId: string
  /** To be called when the text is stored. */
  stored: () => void
}

/**
 * The text of one open document that is not known to be stored: pending text, which was typed here, and text that other
 * processes have relayed.
 */
export class UnstoredText {
  readonly #options: Options
  readonly #pending: PendingText
  #relay: Relay | null = null
  /** The id of the user who typed here last; empty until somebody types. */
  #typist = ''
  /** How many other processes are gone that have relayed text and have not stored it. */
  #takeOvers = 0
  /** The first refusal since text was stored last, and the bytes that were pending then. */
  #refused: { reason: ErrorCode; bytes: number } | null = null
  /** The pending bytes that the room counts as refused. */
  #refusedBytes = 0

  constructor(options: Options) {
    this.#options = options
    const { workspaceId, room } = options
    this.#pending = new PendingText((change, userId) => {
      room.add({ workspaceId, userId }, change)
      this.#countRefused()
    })
  }

  /** The pending updates, in the order of their arrival. */
  get pending(): readonly Uint8Array[] {
    return this.#pending.updates
  }

  /** Whether text is pending. */
  get isPending(): boolean {
    return !this.#pending.isEmpty
  }

  /** Whether another process has relayed text that is not known to be stored. */
  get isRelayed(): boolean {
    return this.#relay?.holdsUnstored ?? false
  }

  /** Whether this process must take over the storing of text from a process that is gone. */
  get isLeftBehind(): boolean {
    return this.#takeOvers > 0
  }

  /** Whether there is text that this process must store. */
  get isOurs(): boolean {
    return this.isPending || this.isLeftBehind
  }

  /** Relays from now on what is typed. */
  relayBy(relay: Relay): void {
    this.#relay = relay
  }

  /** Adds an update that was typed here, by a user if that is known. */
  type(update: Uint8Array, userId: string | undefined): void {
    this.#typist = userId ?? this.#typist
    this.#pending.add(update, userId ?? '')
    this.#relay?.send(update, this.#typist)
  }

  /** Adds pending text that other processes need not get. */
  regain(update: Uint8Array): void {
    this.#pending.add(update, '')
  }

  /** Notes that a process is gone without having stored its text. All processes that have the text store it. */
  takeOver(): void {
    this.#takeOvers += 1
  }

  /** When pending text has to be stored, in milliseconds of `performance.now()`. */
  dueAt(pauses: FlushPauses): number {
    return this.#pending.dueAt(pauses)
  }

  /** The reason why an update of so many bytes of a user cannot be taken now; null when there is room for it. */
  fullFor(bytes: number, userId: string): ErrorCode | null {
    const { room, workspaceId, mostPending } = this.#options
    const all = this.#pending.bytes + bytes
    if (this.#refused !== null) {
      if (all > this.#refused.bytes + mostAfterRefusal) return this.#refused.reason
      return room.takesRefused(workspaceId, bytes) ? null : 'service_unavailable'
    }
    return all <= mostPending && room.takes({ workspaceId, userId }, bytes) ? null : 'service_unavailable'
  }

  /**
   * Everything that a flush stores. What others have typed is stored as well, since text that was typed here may follow
   * it.
   */
  forFlush(): TextToStore {
    const relayed = this.#relay?.forFlush()
    const typists = this.isPending ? [this.#typist, relayed?.typist] : [relayed?.typist, this.#typist]
    const updates = [...(relayed?.updates ?? []), ...this.#pending.take()]
    const takeOvers = this.#takeOvers
    return {
      updates,
      userId: typists.find((typist) => typist) ?? '',
      stored: () => {
        this.#pending.stored()
        relayed?.stored()
        this.#takeOvers -= takeOvers
        this.#refused = null
        this.#countRefused()
      },
    }
  }

  /** Notes that a commit was refused because of what the document holds. */
  refused(reason: ErrorCode): void {
    this.#refused ??= { reason, bytes: this.#pending.bytes }
    this.#countRefused()
  }

  /** Forgets all text, and relays nothing any more. */
  close(): void {
    this.#relay?.leave()
    this.#pending.clear()
  }

  #countRefused(): void {
    const bytes = this.#refused === null ? 0 : this.#pending.bytes
    this.#options.room.addRefused(this.#options.workspaceId, bytes - this.#refusedBytes)
    this.#refusedBytes = bytes
  }
}
