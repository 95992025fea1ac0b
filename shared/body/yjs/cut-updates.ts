import * as encoding from 'lib0/encoding'
import * as Y from 'yjs'
import { mergeUpdates } from './state.ts'

/** A struct of an update: inserted content (an Item), deleted content (GC), or a gap (Skip). */
type Struct = Y.Item | Y.GC | Y.Skip

/**
 * The size of a slice: the most structs, and the most UTF-16 code units of text. By default a slice is so small that
 * Yjs applies it in about five milliseconds. A longer struct, such as a long text that was pasted at once, is a slice
 * alone.
 */
export type SliceSize = { structs: number; characters: number }
const usualSize: SliceSize = { structs: 1000, characters: 64 * 1024 }

/**
 * Cuts updates (Yjs encoding v1) into small updates. Applied one after another, they have the effect of the given
 * updates. Each needs only the updates before it, so Yjs never has to keep one back. The last one also has all
 * deletions, and everything that depends on content that is missing.
 */
export function cutUpdates(updates: readonly Uint8Array[], size = usualSize): Uint8Array[] {
  const { structs, ds } = Y.decodeUpdate(mergeUpdates(updates))
  const queues = new Queues(structs as Struct[])
  const slices: Uint8Array[] = []
  let slice = new Slice()
  for (let struct = queues.next(); struct !== null; struct = queues.next()) {
    if (slice.structs >= size.structs || slice.characters >= size.characters) {
      slices.push(slice.encoded())
      slice = new Slice()
    }
    slice.add(struct)
  }
  for (const struct of queues.rest()) slice.add(struct)
  return [...slices, slice.encoded(ds)]
}

/**
 * The structs of one client in the order of their clocks. An open queue is on the path. A blocked queue waits for
 * something that is missing.
 */
type Queue = { structs: Struct[]; next: number; isOpen: boolean; isBlocked: boolean }

/** The structs of an update in an order in which each comes after everything that it depends on. */
class Queues {
  readonly #queues = new Map<number, Queue>()
  /** The queues that are not looked at yet. */
  readonly #others: Queue[]
  /** Queues that wait for one another: the head of each needs a struct of the next. */
  readonly #path: Queue[] = []

  constructor(structs: readonly Struct[]) {
    for (const struct of structs) {
      const queue = this.#queues.get(struct.id.client)
      if (queue) queue.structs.push(struct)
      else this.#queues.set(struct.id.client, { structs: [struct], next: 0, isOpen: false, isBlocked: false })
    }
    this.#others = [...this.#queues.values()]
  }

  /** Takes the next struct that depends on nothing in the queues; null when there is none. */
  next(): Struct | null {
    for (;;) {
      const queue = this.#path.at(-1) ?? this.#others.at(-1)
      if (queue === undefined) return null
      if (this.#path.length === 0) this.#open(queue)
      const struct = queue.isBlocked ? undefined : queue.structs[queue.next]
      if (struct === undefined) {
        queue.isOpen = false
        this.#path.pop()
        if (this.#path.length === 0) this.#others.pop()
        continue
      }
      const needed = this.#neededBy(struct)
      if (needed === null) {
        queue.next += 1
        return struct
      }
      // Structs that need each other are not made by Yjs.
      if (needed.isBlocked || needed.isOpen) queue.isBlocked = true
      else this.#open(needed)
    }
  }

  #open(queue: Queue): void {
    queue.isOpen = true
    this.#path.push(queue)
  }

  /** The structs that `next` cannot reach. */
  rest(): Struct[] {
    return [...this.#queues.values()].flatMap(({ structs, next }) => structs.slice(next))
  }

  /**
   * The first queue that still has something on which a struct depends. Nothing comes after a gap, so it needs itself.
   */
  #neededBy(struct: Struct): Queue | null {
    if (struct instanceof Y.Skip) return this.#queues.get(struct.id.client) ?? null
    if (!(struct instanceof Y.Item)) return null
    const { origin, rightOrigin, parent } = struct
    for (const id of [origin, rightOrigin, parent]) {
      const queue = id instanceof Y.ID ? this.#queueOf(id) : null
      if (queue !== null) return queue
    }
    return null
  }

  #queueOf({ client, clock }: Y.ID): Queue | null {
    const queue = this.#queues.get(client)
    const head = queue?.structs[queue.next]
    return queue && head && clock >= head.id.clock ? queue : null
  }
}

/** An update in the making. */
class Slice {
  structs = 0
  characters = 0
  readonly #byClient = new Map<number, Struct[]>()

  add(struct: Struct): void {
    const { client } = struct.id
    const structs = this.#byClient.get(client)
    if (structs) structs.push(struct)
    else this.#byClient.set(client, [struct])
    this.structs += 1
    if (struct instanceof Y.Item && !struct.deleted) this.characters += struct.length
  }

  encoded(ds?: ReturnType<typeof Y.decodeUpdate>['ds']): Uint8Array {
    const encoder = new Y.UpdateEncoderV1()
    encoding.writeVarUint(encoder.restEncoder, this.#byClient.size)
    for (const [client, structs] of this.#byClient) {
      encoding.writeVarUint(encoder.restEncoder, structs.length)
      encoder.writeClient(client)
      encoding.writeVarUint(encoder.restEncoder, structs[0]?.id.clock ?? 0)
      for (const struct of structs) struct.write(encoder, 0)
    }
    writeDeletions(encoder, ds?.clients ?? new Map())
    return encoder.toUint8Array()
  }
}

type Deletions = Map<number, { clock: number; len: number }[]>

function writeDeletions(encoder: Y.UpdateEncoderV1, clients: Deletions): void {
  encoding.writeVarUint(encoder.restEncoder, clients.size)
  for (const [client, ranges] of clients) {
    encoder.resetDsCurVal()
    encoding.writeVarUint(encoder.restEncoder, client)
    encoding.writeVarUint(encoder.restEncoder, ranges.length)
    for (const { clock, len } of ranges) {
      encoder.writeDsClock(clock)
      encoder.writeDsLen(len)
    }
  }
}
