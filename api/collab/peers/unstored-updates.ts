import { mergeUpdates } from '../../../shared/body/yjs/state.ts'

/** An update that another process has relayed. Numbers of one sender grow; merged updates have the highest number. */
export type RelayedUpdate = { number: number; update: Uint8Array; typist: string }

// Beyond this number, the updates of one sender are merged. A sender that stores normally stays far below it.
const mostUpdates = 500

type Sender = { storedUpTo: number; updates: RelayedUpdate[] }

/**
 * The updates of one document that other processes have relayed and that are not known to be stored. Messages may
 * arrive in any order, twice or not at all. An update counts as stored as soon as its sender has said so of its number
 * or of a higher number.
 */
export class UnstoredUpdates {
  readonly #senders = new Map<string, Sender>()
  /** The updates whose sender is gone. Nobody but this process will say that they are stored. */
  #orphans: RelayedUpdate[] = []

  get isEmpty(): boolean {
    return this.#orphans.length === 0 && [...this.#senders.values()].every(({ updates }) => updates.length === 0)
  }

  /** Keeps an update, unless its sender has already said that it is stored. */
  add(sender: string, relayed: RelayedUpdate): void {
    const known = this.#sender(sender)
    if (relayed.number <= known.storedUpTo) return
    known.updates.push(relayed)
    known.updates = bounded(known.updates)
  }

  /** Notes that a sender has stored its updates up to a number. */
  storedUpTo(sender: string, number: number): void {
    const known = this.#sender(sender)
    known.storedUpTo = Math.max(known.storedUpTo, number)
    known.updates = known.updates.filter((update) => update.number > known.storedUpTo)
  }

  /**
   * Notes that a sender has closed the document or was killed. Its updates stay until this process has stored them,
   * whatever the sender says later. Returns whether there are such updates.
   */
  senderGone(sender: string): boolean {
    const { updates } = this.#sender(sender)
    this.#senders.delete(sender)
    this.#orphans = bounded([...this.#orphans, ...updates])
    return updates.length > 0
  }

  /** All updates that are not known to be stored: of each sender in the order of their arrival. */
  all(): RelayedUpdate[] {
    return [...this.#orphans, ...[...this.#senders.values()].flatMap(({ updates }) => updates)]
  }

  /** Notes that this process has stored updates itself. */
  remove(updates: readonly RelayedUpdate[]): void {
    const stored = new Set(updates)
    const isUnstored = (update: RelayedUpdate) => !stored.has(update)
    this.#orphans = this.#orphans.filter(isUnstored)
    for (const known of this.#senders.values()) known.updates = known.updates.filter(isUnstored)
  }

  #sender(id: string): Sender {
    const known = this.#senders.get(id) ?? { storedUpTo: 0, updates: [] }
    this.#senders.set(id, known)
    return known
  }
}

function bounded(updates: RelayedUpdate[]): RelayedUpdate[] {
  if (updates.length <= mostUpdates) return updates
  const { typist } = updates.at(-1) as RelayedUpdate
  const number = updates.reduce((highest, update) => Math.max(highest, update.number), 0)
  return [{ number, typist, update: mergeUpdates(updates.map(({ update }) => update)) }]
}
