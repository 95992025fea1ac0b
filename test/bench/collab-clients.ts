import { setTimeout as sleep } from 'node:timers/promises'
import { HocuspocusProvider, HocuspocusProviderWebsocket } from '@hocuspocus/provider'
import { WebSocket } from 'ws'
import * as Y from 'yjs'

/*
 * A process with the browsers of `collab`: stock providers, each with a connection and a Y document of its own. So the
 * work of browsers does not count as work of the servers. The parent sends requests and gets an answer to each.
 */

/** The address of a document on one server. */
export type Address = { url: string; name: string; token: string }

/** The requests of the parent, by name, with their arguments and results. Clients are named by their index. */
export type Requests = {
  /** Opens clients one after the other, and resolves with the index of the first when all have the document. */
  open: { takes: { addresses: Address[]; together: number }; gives: number }
  close: { takes: { clients: number[] }; gives: null }
  /**
   * Types words, a pause after each, at the end of blocks in turn. Gives the milliseconds until the watcher had each
   * word; NaN for a word that did not come within `patience` ms.
   */
  type: { takes: Typing; gives: number[] }
  /** Types a word into the block and waits for the message that all is saved, so often. */
  save: { takes: { client: number; block: number; times: number }; gives: null }
  /** Types a word into the block and waits until the server has received it, so often. */
  deliver: { takes: { client: number; block: number; times: number }; gives: null }
  /** Resolves with the time of this machine in milliseconds at which the client had the text. */
  watch: { takes: { client: number; text: string }; gives: number }
}

export type Typing = { client: number; watcher: number; blocks: number[]; words: number; pause: number }

const patience = 10_000

type Client = { provider: HocuspocusProvider; watched: Map<string, (at: number) => void>; saved: () => void }

const clients: Client[] = []
let word = 0

const answers: { [Name in keyof Requests]: (given: Requests[Name]['takes']) => Promise<Requests[Name]['gives']> } = {
  async open({ addresses, together }) {
    const first = clients.length
    for (let index = 0; index < addresses.length; index += together) {
      await Promise.all(addresses.slice(index, index + together).map(open))
    }
    return first
  },
  async close({ clients: closed }) {
    for (const index of closed) {
      const { provider } = clientOf(index)
      provider.destroy()
      provider.configuration.websocketProvider.destroy()
    }
    return null
  },
  async type({ client, watcher, blocks, words, pause }) {
    const times: number[] = []
    for (let turn = 0; turn < words; turn += 1) {
      const text = nextWord()
      const arrived = arrivalOf(watcher, text)
      const typed = now()
      insert(clientOf(client), blocks[turn % blocks.length] ?? 0, text)
      times.push((await Promise.race([arrived, sleep(patience, Number.NaN, { ref: false })])) - typed)
      await sleep(pause)
    }
    return times
  },
  async save({ client, block, times }) {
    for (let turn = 0; turn < times; turn += 1) {
      const saved = new Promise<void>((resolve) => {
        clientOf(client).saved = resolve
      })
      insert(clientOf(client), block, nextWord())
      await saved
    }
    return null
  },
  async deliver({ client, block, times }) {
    const { provider } = clientOf(client)
    for (let turn = 0; turn < times; turn += 1) {
      const received = new Promise<void>((resolve) => {
        const look = ({ number }: { number: number }) => {
          if (number > 0) return
          provider.off('unsyncedChanges', look)
          resolve()
        }
        provider.on('unsyncedChanges', look)
      })
      insert(clientOf(client), block, nextWord())
      await received
    }
    return null
  },
  watch: ({ client, text }) => arrivalOf(client, text),
}

process.on('message', async ({ id, name, given }: { id: number; name: keyof Requests; given: never }) => {
  process.send?.({ id, result: await answers[name](given).catch((error: Error) => ({ failed: error.stack })) })
})

process.on('disconnect', () => process.exit())

// A place in the list is taken at once, so that clients that are opened together keep their order.
async function open({ url, name, token }: Address): Promise<void> {
  const websocketProvider = new HocuspocusProviderWebsocket({ url, WebSocketPolyfill: WebSocket })
  await new Promise<void>((resolve, reject) => {
    const client: Client = {
      watched: new Map(),
      saved: () => {},
      provider: new HocuspocusProvider({
        ...{ name, token, document: new Y.Doc(), websocketProvider },
        onSynced: () => resolve(),
        onAuthenticationFailed: ({ reason }) => reject(new Error(`${url} refused ${name}: ${reason}`)),
        onStateless: ({ payload }) => {
          const { type, complete } = JSON.parse(payload)
          if (type === 'saved' && complete) client.saved()
        },
      }),
    }
    client.provider.document.on('update', (update: Uint8Array) => notice(client, update))
    client.provider.attach()
    clients.push(client)
  })
}

// An update holds inserted text as it is.
function notice({ watched }: Client, update: Uint8Array): void {
  if (watched.size === 0) return
  const at = now()
  const bytes = Buffer.from(update.buffer, update.byteOffset, update.byteLength)
  for (const [text, seen] of watched) {
    if (!bytes.includes(text)) continue
    watched.delete(text)
    seen(at)
  }
}

function arrivalOf(client: number, text: string): Promise<number> {
  return new Promise((resolve) => clientOf(client).watched.set(text, resolve))
}

function insert({ provider }: Client, block: number, text: string): void {
  const element = provider.document.getXmlFragment('default').get(block) as Y.XmlElement
  const ytext = element.get(0) as Y.XmlText
  ytext.insert(ytext.length, text)
}

function clientOf(index: number): Client {
  const client = clients[index]
  if (client === undefined) throw new Error(`There is no client ${index}`)
  return client
}

function nextWord(): string {
  word += 1
  return ` k${word.toString(36)}.`
}

function now(): number {
  return performance.timeOrigin + performance.now()
}
