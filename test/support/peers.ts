import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { Awareness } from 'y-protocols/awareness'
import * as Y from 'yjs'
import { peerOrigin } from '../../api/collab/peers/awareness.ts'
import { openPeers } from '../../api/collab/peers/peers.ts'
import type { Teardown } from './site.ts'

/** A collab process without sockets and without a store: its relay, and documents that are typed into directly. */
export function startRelay(t: Teardown, options: { url: string; heartbeatMs?: number }) {
  const registry = new Registry()
  const peers = openPeers({ ...options, registry, log: pino({ level: 'silent' }) })
  t.teardown(() => peers.close())

  /** Opens a document. What is typed into its text counts as typed by a person, and waits for a flush. */
  function open(documentId: string) {
    const doc = new Y.Doc()
    const awareness = new Awareness(doc)
    awareness.setLocalState(null)
    const received: Uint8Array[] = []
    let pending: Uint8Array[] = []
    let takeOvers = 0
    const relay = peers.join(documentId, {
      awareness,
      receive(update, process) {
        received.push(update)
        Y.applyUpdate(doc, update, peerOrigin(process))
      },
      pending: () => pending,
      joined: () => {},
      heard: () => {},
      left: () => {},
      takeOver: () => (takeOvers += 1),
      settled() {},
    })
    doc.on('update', (update: Uint8Array, origin: unknown) => {
      if (origin !== null) return
      pending.push(update)
      relay.send(update, 'user_ada')
    })
    t.teardown(() => awareness.destroy())
    return {
      doc,
      awareness,
      received,
      relay,
      get takeOvers() {
        return takeOvers
      },
      text: () => doc.getText('t').toString(),
      type: (words: string) => doc.getText('t').insert(doc.getText('t').length, words),
      /** Sets the state of an editor at this process. */
      show: (user: string | null) => awareness.setLocalState(user === null ? null : { user }),
      users: () => [...awareness.getStates().values()].map((state) => state['user'] as string).sort(),
      /** Stores what was typed and relayed so far, and returns it. */
      flush() {
        const relayed = relay.forFlush()
        const updates = [...relayed.updates, ...pending]
        pending = []
        relayed.stored()
        return updates
      },
    }
  }

  /** The sum of the values of a metric. */
  async function metric(name: string, labels: Record<string, string> = {}): Promise<number> {
    const values = (await registry.getSingleMetric(name)?.get())?.values ?? []
    const fitting = values.filter((value) =>
      Object.entries(labels).every(([label, word]) => (value.labels as Record<string, unknown>)[label] === word),
    )
    return fitting.reduce((sum, { value }) => sum + value, 0)
  }

  return { open, metric, close: () => peers.close() }
}

/** The text that these updates have typed together. */
export function textOf(updates: readonly Uint8Array[]): string {
  const doc = new Y.Doc()
  for (const update of updates) Y.applyUpdate(doc, update)
  return doc.getText('t').toString()
}

/** Waits until the question is answered with true. */
export async function eventually(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await sleep(5)
}

/**
 * A network before an address that can be cut, so that nothing goes through it until it is healed. It may then lead to
 * another address.
 */
export async function startNetwork(t: Teardown, target: string) {
  let address = new URL(target)
  const sockets = new Set<Socket>()
  const clients = new Set<Socket>()
  let isCut = false
  const relay = createServer((client) => {
    if (isCut) return client.destroy()
    clients.add(client)
    client.on('close', () => clients.delete(client))
    const server = connect(Number(address.port), address.hostname)
    for (const [socket, opposite] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(socket)
      socket.pipe(opposite)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        opposite.destroy()
      })
    }
    return undefined
  }).listen(0, '127.0.0.1')
  await once(relay, 'listening')
  const url = new URL(target)
  url.host = `127.0.0.1:${(relay.address() as AddressInfo).port}`
  const cut = () => {
    isCut = true
    for (const socket of sockets) socket.destroy()
  }
  t.teardown(() => {
    cut()
    relay.close()
  })
  const heal = (to = target) => {
    isCut = false
    address = new URL(to)
  }
  /** Holds back what clients send, until the returned function is called. */
  const hold = () => {
    const held = [...clients]
    for (const client of held) client.pause()
    return () => held.forEach((client) => void client.resume())
  }
  return { url: url.href, cut, heal, hold }
}
