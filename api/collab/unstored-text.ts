import type { ErrorCode } from '../../shared/errors/errors.ts'
import { Counts } from './counts.ts'
import type { Relay } from './peers/peers.ts'

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

/** The pauses after which typed text is stored, in milliseconds: without further typing, and at most. */
export type FlushPauses = { debounceMs: number; maxDebounceMs: number }

type TypedUpdate = { update: Uint8Array; userId: string }

/**
 * The updates of one document that no commit has stored yet, in the order of their arrival. A flush takes all of them,
 * and they stay here until the flush has stored them or has failed.
 */
class PendingText {
  readonly #onBytes: (change: number, userId: string) => void
  #updates: TypedUpdate[] = []
  #bytes = 0
  /** How many of the updates a flush has taken. */
  #taken = 0
  #firstAt = 0
  #lastAt = 0

  /** `onBytes` is told by how many bytes the text of a user has grown; a negative number when text is forgotten. */
  constructor(onBytes: (change: number, userId: string) => void) {
    this.#onBytes = onBytes
  }

  get isEmpty(): boolean {
    return this.#updates.length === 0
  }

  /** All updates, including those that a flush has taken. */
  get updates(): readonly Uint8Array[] {
    return this.#updates.map(({ update }) => update)
  }

  /** The bytes of all updates, including those that a flush has taken. */
  get bytes(): number {
    return this.#bytes
  }

  /** Adds an update that a user has typed; the id is empty when nobody is known. */
  add(update: Uint8Array, userId: string): void {
    this.#lastAt = performance.now()
    if (this.#updates.length === this.#taken) this.#firstAt = this.#lastAt
    this.#updates.push({ update, userId })
    this.#count(update.byteLength, userId)
  }

  /** When the updates have to be stored, in milliseconds of `performance.now()`. */
  dueAt({ debounceMs, maxDebounceMs }: FlushPauses): number {
    return Math.min(this.#lastAt + debounceMs, this.#firstAt + maxDebounceMs)
  }

  /** Takes all updates for a flush. */
  take(): readonly Uint8Array[] {
    this.#taken = this.#updates.length
    return this.updates
  }

  /** Forgets the updates that the flush has taken and stored. */
  stored(): void {
    this.#forget(this.#updates.splice(0, this.#taken))
  }

  /** Forgets all updates. */
  clear(): void {
    this.#forget(this.#updates.splice(0))
  }

  #forget(updates: readonly TypedUpdate[]): void {
    this.#taken = 0
    for (const { update, userId } of updates) this.#count(-update.byteLength, userId)
  }

  #count(bytes: number, userId: string): void {
    this.#bytes += bytes
    this.#onBytes(bytes, userId)
  }
}

const mebibyte = 1024 * 1024
// The most bytes that may wait: of all documents of the process; of all documents of a workspace whose text was not
// refused, and with those whose text was; and of one user.
const mostBytes = {
  process: 256 * mebibyte,
  workspace: 64 * mebibyte,
  workspaceWithRefused: 128 * mebibyte,
  user: 16 * mebibyte,
}

/**
 * The bytes of typed text in all documents that no commit has stored yet, and the room for more. A commit that is
 * refused or a database that is out of reach makes text wait. Text that is refused for what its document holds takes no
 * room from the other documents of its workspace.
 */
export class PendingRoom {
  readonly #ofWorkspace = new Counts()
  readonly #refusedOfWorkspace = new Counts()
  readonly #ofUser = new Counts()
  #bytes = 0

  get bytes(): number {
    return this.#bytes
  }

  /** Counts bytes of a document that a user has typed. A negative number of bytes was stored or dropped. */
  add({ workspaceId, userId }: { workspaceId: string; userId: string }, bytes: number): void {
    this.#bytes += bytes
    this.#ofWorkspace.add(workspaceId, bytes)
    this.#ofUser.add(userId, bytes)
  }

  /** Notes that so many of the bytes of the workspace were refused; a negative number of bytes is not any more. */
  addRefused(workspaceId: string, bytes: number): void {
    this.#refusedOfWorkspace.add(workspaceId, bytes)
  }

  /** Whether so many bytes more may wait, which the user has typed. */
  takes({ workspaceId, userId }: { workspaceId: string; userId: string }, bytes: number): boolean {
    const others = this.#ofWorkspace.of(workspaceId) - this.#refusedOfWorkspace.of(workspaceId)
    const isWithinShare = this.#ofUser.of(userId) + bytes <= mostBytes.user
    return isWithinShare && others + bytes <= mostBytes.workspace && this.takesRefused(workspaceId, bytes)
  }

  /** Whether so many bytes more may wait in a document whose text was refused, such as the deletion of its text. */
  takesRefused(workspaceId: string, bytes: number): boolean {
    const isWithinWorkspace = this.#ofWorkspace.of(workspaceId) + bytes <= mostBytes.workspaceWithRefused
    return isWithinWorkspace && this.#bytes + bytes <= mostBytes.process
  }
}
