import { randomBytes } from 'node:crypto'
import type { Registry } from 'prom-client'
import type { Logger } from '../../../shared/process/log.ts'
import { Reassembly } from './chunks.ts'
import { type RelayMetrics, relayMetrics } from './metrics.ts'
import { commonChannel, type Letter, Outbox, privateChannel } from './outbox.ts'
import { type OpenRoom, type RelayedForFlush, Room } from './room.ts'
import { openPeerSession, type PeerSession } from './session.ts'
import { decodeFrames, type Frame } from './wire.ts'

/** The relay between collab processes. */
export type Peers = {
  /** Finds the other processes that hold the document, and relays between them and this process until `leave`. */
  join: (documentId: string, open: OpenRoom) => Relay
  /** Tells the other processes that this process holds no documents any more, and closes the session. */
  close: () => Promise<void>
}

/** The relay of one open document. */
export type Relay = {
  /** Sends an update that was typed at this process to the other processes. `typist` is the id of the user. */
  send: (update: Uint8Array, typist: string) => void
  /** Asks another process to confirm that it has received everything that was sent so far. */
  ask: (process: string) => void
  /** The relayed updates that a flush must store together with everything that was sent so far. */
  forFlush: () => RelayedForFlush
  /** Whether other processes have relayed text that is not known to be stored. */
  readonly holdsUnstored: boolean
  leave: () => void
}

type Options = {
  url: string
  log: Logger
  registry: Registry
  /** The interval between heartbeats in milliseconds. */
  heartbeatMs?: number
}

/** Opens the relay of this process. */
export function openPeers(options: Options): Peers {
  const relay = new PeerRelay(options)
  return { join: (documentId, open) => relay.join(documentId, open), close: () => relay.close() }
}

const usualHeartbeatMs = 5000
// A process is gone when this process has heard its own heartbeat so often since the last sign of life. So a process
// that hears nothing at all, not even itself, counts nobody as gone.
const silentBeats = 4
// After so many heartbeats, a member that has not confirmed its membership counts as having left.
const doubtBeats = 2

class PeerRelay {
  readonly #id = randomBytes(8).toString('hex')
  readonly #log: Logger
  readonly #metrics: RelayMetrics
  readonly #session: PeerSession
  readonly #outbox: Outbox
  readonly #reassembly: Reassembly
  readonly #heartbeat: NodeJS.Timeout
  readonly #rooms = new Map<string, Room>()
  /** The rooms that have something to send. */
  readonly #waiting = new Set<Room>()
  /** How often this process has heard itself since the last sign of life of each other process. */
  readonly #silence = new Map<string, number>()
  #beatsInDoubt = doubtBeats
  #number = 0

  constructor({ url, log, registry, heartbeatMs = usualHeartbeatMs }: Options) {
    this.#log = log
    this.#metrics = relayMetrics(registry, () => this.#peers().size)
    this.#reassembly = new Reassembly((chunks) => this.#metrics.dropped.inc(chunks))
    this.#session = openPeerSession({
      url,
      channels: [commonChannel, privateChannel(this.#id)],
      onOpen: () => this.#opened(),
      onPayload: (payload) => this.#arrived(payload),
      onError: (error) => this.#warn(error),
    })
    this.#outbox = new Outbox({
      id: this.#id,
      collect: () => this.#collect(),
      notify: (notifications) => this.#session.notify(notifications),
      onSent: (bytes) => this.#count('sent', bytes),
      onError: (error) => this.#warn(error),
    })
    this.#heartbeat = setInterval(() => this.#outbox.announce({ kind: 'alive' }), heartbeatMs)
  }

  join(documentId: string, open: OpenRoom): Relay {
    const room: Room = new Room(documentId, { open, onWaiting: () => this.#wake(room) })
    this.#rooms.set(documentId, room)
    this.#outbox.announce({ kind: 'joined', all: false, documentIds: [documentId] })
    return {
      send: (update, typist) => {
        this.#number += 1
        room.typed(update, { number: this.#number, typist })
      },
      ask: (process) => room.ask(process),
      forFlush: () => room.forFlush(),
      get holdsUnstored() {
        return room.holdsUnstored
      },
      leave: () => this.#leave(room),
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#heartbeat)
    for (const room of this.#rooms.values()) this.#leave(room)
    await this.#outbox.close()
    await this.#session.close()
  }

  #leave(room: Room): void {
    if (this.#rooms.get(room.documentId) !== room) return
    this.#outbox.write(...room.take())
    this.#waiting.delete(room)
    this.#rooms.delete(room.documentId)
    room.close()
    this.#outbox.announce({ kind: 'left', documentIds: [room.documentId] })
  }

  #wake(room: Room): void {
    this.#waiting.add(room)
    this.#outbox.wake()
  }

  #collect(): Letter[] {
    const rooms = [...this.#waiting]
    this.#waiting.clear()
    return rooms.flatMap((room) => room.take())
  }

  // What was said while there was no session went unheard, and what waited was lost. Every process that holds a
  // document of this process now sends a greeting and gets a greeting, which make up for both.
  #opened(): void {
    this.#outbox.clear()
    for (const room of this.#rooms.values()) room.doubtMembers()
    this.#beatsInDoubt = 0
    this.#outbox.announce(this.#allRooms())
  }

  #allRooms(): Frame {
    return { kind: 'joined', all: true, documentIds: [...this.#rooms.keys()] }
  }

  #arrived(payload: string): void {
    const message = this.#reassembly.add(payload)
    if (message === null) return
    const { from, bytes } = message
    const frames = this.#unlessMalformed(() => decodeFrames(bytes)) ?? []
    if (from === this.#id) this.#heardItself(frames)
    else this.#heard(from, { frames, bytes: bytes.length })
  }

  // What cannot be read is counted and left out. Text comes through the log all the same.
  #unlessMalformed<T>(work: () => T): T | undefined {
    try {
      return work()
    } catch (error) {
      this.#metrics.dropped.inc()
      this.#warn(error)
      return undefined
    }
  }

  #heardItself(frames: readonly Frame[]): void {
    if (!frames.some(({ kind }) => kind === 'alive')) return
    this.#reassembly.age()
    for (const [process, beats] of this.#silence) {
      if (beats + 1 < silentBeats) this.#silence.set(process, beats + 1)
      else this.#gone(process)
    }
    this.#beatsInDoubt += 1
    if (this.#beatsInDoubt === doubtBeats) for (const room of this.#rooms.values()) room.dropDoubtful()
  }

  // A process that is not known here may have been counted as gone. It is told all rooms of this process, as all
  // processes were told when the session was opened.
  #heard(from: string, { frames, bytes }: { frames: readonly Frame[]; bytes: number }): void {
    this.#count('received', bytes)
    const tellsAll = frames.some((frame) => frame.kind === 'joined' && frame.all)
    if (!this.#silence.has(from) && !tellsAll) this.#outbox.write({ to: [from], frames: [this.#allRooms()] })
    this.#silence.set(from, 0)
    for (const frame of frames) this.#unlessMalformed(() => this.#receive(from, frame))
  }

  #gone(process: string): void {
    this.#silence.delete(process)
    for (const room of this.#rooms.values()) room.left(process)
  }

  #receive(from: string, frame: Frame): void {
    if (frame.kind === 'alive') return
    if (frame.kind === 'joined') this.#joined(from, frame)
    else if (frame.kind === 'left') for (const id of frame.documentIds) this.#rooms.get(id)?.left(from)
    else this.#receiveInRoom(from, frame)
  }

  #joined(from: string, { all, documentIds }: Extract<Frame, { kind: 'joined' }>): void {
    if (all) {
      const held = new Set(documentIds)
      for (const [id, room] of this.#rooms) if (!held.has(id)) room.left(from)
    }
    for (const id of documentIds) this.#rooms.get(id)?.joined(from)
  }

  #receiveInRoom(from: string, frame: Exclude<Frame, { kind: 'alive' | 'joined' | 'left' }>): void {
    const room = this.#rooms.get(frame.documentId)
    if (room === undefined) {
      // The other process has not heard that this process has closed the document.
      this.#outbox.write({ to: [from], frames: [{ kind: 'left', documentIds: [frame.documentId] }] })
    } else if (frame.kind === 'greeting') room.greeted(from, frame)
    else if (frame.kind === 'update') room.receiveUpdate(from, frame)
    else if (frame.kind === 'awareness') room.receiveAwareness(from, frame.update)
    else room.receiveStored(from, frame.upTo)
  }

  #peers(): Set<string> {
    return new Set([...this.#rooms.values()].flatMap(({ members }) => [...members]))
  }

  #count(direction: 'sent' | 'received', bytes: number): void {
    this.#metrics.messages.inc({ direction })
    this.#metrics.bytes.inc({ direction }, bytes)
  }

  #warn(err: unknown): void {
    this.#log.warn({ err }, 'relay between collab processes')
  }
}
