import { type Connection, isTransactionOrigin } from '@hocuspocus/server'
import {
  type Awareness,
  applyAwarenessUpdate,
  encodeAwarenessUpdate,
  removeAwarenessStates,
} from 'y-protocols/awareness'

type Change = { added: number[]; updated: number[]; removed: number[] }

/**
 * The awareness of one document across processes. The states of editors at other processes appear in the awareness of
 * this process, and vanish with their process. A state belongs to the process that told of it last, since an editor
 * may connect to another process.
 */
export class PeerAwareness {
  readonly #awareness: Awareness
  readonly #onChange: (clients: readonly number[]) => void
  /** The ids of the processes to which editors elsewhere are connected, by Yjs client id. */
  readonly #processes = new Map<number, string>()
  /** The connections of editors at this process, by Yjs client id. */
  readonly #connections = new Map<number, Connection>()
  readonly #watch = (change: Change, origin: unknown) => this.#changed(change, origin)

  /** `onChange` is told the client ids of editors at this process whose states have changed or vanished. */
  constructor(awareness: Awareness, onChange: (clients: readonly number[]) => void) {
    this.#awareness = awareness
    this.#onChange = onChange
    awareness.on('update', this.#watch)
  }

  /** The client ids of the editors that are connected to this process. */
  get local(): number[] {
    return [...this.#awareness.getStates().keys()].filter((client) => !this.#processes.has(client))
  }

  /** The newest state of each of these clients as an awareness update of its own. */
  encode(clients: Iterable<number>): Uint8Array[] {
    const known = [...clients].filter((client) => this.#awareness.meta.has(client) && !this.#processes.has(client))
    return known.map((client) => encodeAwarenessUpdate(this.#awareness, [client]))
  }

  /** Takes over the states that another process has told of. Throws when the update is malformed. */
  receive(process: string, update: Uint8Array): void {
    applyAwarenessUpdate(this.#awareness, update, peerOrigin(process))
  }

  /** Removes the states of the editors at this process, which is gone. */
  remove(process: string): void {
    const clients = [...this.#processes].filter(([, owner]) => owner === process).map(([client]) => client)
    removeAwarenessStates(this.#awareness, clients, peerOrigin(process))
    for (const client of clients) this.#processes.delete(client)
  }

  /** Stops watching the awareness. */
  close(): void {
    this.#awareness.off('update', this.#watch)
  }

  #changed({ added, updated, removed }: Change, origin: unknown): void {
    const present = [...added, ...updated]
    const process = processOf(origin)
    if (process !== null) {
      for (const client of present) this.#moveTo(process, client)
      for (const client of removed) this.#processes.delete(client)
      return
    }
    if (isTransactionOrigin(origin) && origin.source === 'connection') {
      for (const client of present) this.#moveHere(origin.connection, client)
    }
    // A state from elsewhere that was removed here, because of its age, is not ours to remove at other processes.
    const ours = [...present, ...removed].filter((client) => !this.#processes.has(client))
    for (const client of removed) {
      this.#processes.delete(client)
      this.#connections.delete(client)
    }
    if (ours.length > 0) this.#onChange(ours)
  }

  // Hocuspocus removes the states of a connection that closes. It only knows clients that were new to it when they
  // connected. So a client that was seen before, at another process or on another connection, is made known here.
  #moveHere(connection: Connection, client: number): void {
    const before = this.#connections.get(client)
    if (before !== connection) before?.document.getClients(before).delete(client)
    this.#processes.delete(client)
    this.#connections.set(client, connection)
    connection.document.getClients(connection).add(client)
  }

  // The editor has connected to another process. Its state must stay when the old connection closes here.
  #moveTo(process: string, client: number): void {
    const connection = this.#connections.get(client)
    connection?.document.getClients(connection).delete(client)
    this.#connections.delete(client)
    this.#processes.set(client, process)
  }
}

/** The origin of changes of the live document and its awareness that come from another process. */
export function peerOrigin(process: string) {
  return { source: 'local' as const, skipStoreHooks: true, context: { kind: 'peer' as const, process } }
}

function processOf(origin: unknown): string | null {
  if (!isTransactionOrigin(origin) || origin.source !== 'local') return null
  return origin.context?.kind === 'peer' ? origin.context.process : null
}
