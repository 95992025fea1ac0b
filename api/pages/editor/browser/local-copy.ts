import { count, createStores, deleteDB, getAll, getAllKeysValues, openDB } from 'lib0/indexeddb'
import { applyUpdate, type Doc, decodeUpdate, encodeStateAsUpdate } from 'yjs'
import { forgetLeft, type Left, leaveUpdates, leftUpdates } from './left-updates.ts'
import type { PageData } from './page-data.ts'

/**
 * Reads the copy of a document into `live`, and keeps the copy up to date from then on. Each user of a browser has
 * copies of their own. The copies of other users are removed, except copies with text that was not sent. Resolves to
 * null when the browser stores nothing.
 */
export async function openLocalCopy(live: Doc, { userId, documentId }: PageData): Promise<LocalCopy | null> {
  try {
    void removeCopiesOfOthers(userId).catch(() => {})
    const reading = readStored(`${prefixOf(userId)}${documentId}`)
    const stored = await Promise.race([reading, patience()])
    if (stored !== null) return new LocalCopy(live, stored)
    void reading.then(({ database }) => database.close()).catch(() => {})
  } catch {
    // The browser stores nothing, for example in a private window.
  }
  return null
}

/** A copy of a live document in the storage of the browser. What is typed without a connection survives a reload. */
export class LocalCopy {
  /**
   * What earlier pages have typed that is not known to be stored by the service. Each of their Yjs clients has the
   * number of its insertions that are stored.
   */
  readonly unsaved: ReadonlyMap<number, number>
  readonly #live: Doc
  readonly #database: IDBDatabase
  #updates: number
  /** Updates that are under way into the storage. */
  readonly #unwritten = new Set<Uint8Array>()
  #hasLeft = false
  #isOpen = true
  readonly #end = Promise.withResolvers<void>()
  #lastWrite: Promise<void> = Promise.resolve()

  constructor(live: Doc, { database, updates, unsaved, left }: Stored) {
    this.#live = live
    this.#database = database
    this.#updates = updates.length
    this.unsaved = new Map([...left.flatMap(clientsOf), ...unsaved])
    // Another tab removes the copy, or the browser closes the storage of a page in the background.
    for (const event of ['versionchange', 'close']) database.addEventListener(event, () => this.#close())
    live.transact(() => {
      for (const update of [...updates, ...left.map(({ update }) => update)]) applyUpdate(live, update)
    }, this)
    this.#takeLeft(left)
    live.on('update', this.#onUpdate)
    addEventListener('pagehide', () => this.#leave())
  }

  /** Resolves when nothing is kept any more: the copy is removed, or the storage has failed. */
  get ended(): Promise<void> {
    return this.#end.promise
  }

  /** Whether an update of the document came from the copy. */
  isSource(origin: unknown): boolean {
    return origin === this
  }

  /**
   * Notes what is not known to be stored by the service. Each client of this browser has the number of its insertions
   * that are stored; `unsaved` is null when everything is. Another tab may have been closed with such text. The text
   * comes into this document then, as if it were typed here, and is sent and noted anew.
   */
  noteUnsaved(unsaved: ReadonlyMap<number, number> | null): void {
    if (unsaved !== null) this.#put((stores) => putUnsaved(stores, unsaved))
    else this.#write((stores) => this.#noteStored(stores))
  }

  #noteStored(stores: Stores): void {
    const known = this.#updates
    whenRead(stores.updates.count(), (count) => {
      if (count === known) stores.notes.clear()
      else this.#takeOver(stores)
    })
  }

  // Takes over what other tabs have written. Without news for this document, nothing in the copy is unsaved.
  #takeOver({ updates, notes }: Stores): void {
    whenRead(updates.getAll(), (all: Uint8Array[]) => {
      this.#updates = all.length
      let isNew = false
      const note = () => {
        isNew = true
      }
      this.#live.on('update', note)
      for (const update of all) applyUpdate(this.#live, update)
      this.#live.off('update', note)
      if (!isNew) notes.clear()
    })
  }

  /** Resolves to whether the copy has everything that the document has now. */
  async hasAll(): Promise<boolean> {
    await this.#lastWrite
    return this.#isOpen
  }

  /** Removes the copy, which is not kept any more. */
  async remove(): Promise<void> {
    this.#close()
    const { name } = this.#database
    for (const { key } of leftUpdates(name)) localStorage.removeItem(key)
    await Promise.race([deleteDB(name).catch(() => {}), patience()])
  }

  readonly #onUpdate = (update: Uint8Array, origin: unknown): void => {
    if (this.isSource(origin)) return
    this.#updates += 1
    this.#unwritten.add(update)
    const onDone = () => this.#written(update)
    if (this.#updates < mostUpdates) this.#put(({ updates }) => updates.add(update), onDone)
    else this.#write((stores) => this.#fold(stores), onDone)
  }

  #written(update: Uint8Array): void {
    this.#unwritten.delete(update)
    // A page that was left and is shown again has gone on writing.
    if (!this.#hasLeft || this.#unwritten.size > 0) return
    this.#hasLeft = false
    forgetLeft(this.#database.name, this.#live.clientID)
  }

  #leave(): void {
    if (!this.#isOpen || this.#unwritten.size === 0) return
    this.#hasLeft = true
    leaveUpdates(this.#database.name, { client: this.#live.clientID, updates: [...this.#unwritten] })
  }

  #takeLeft(left: Left[]): void {
    if (left.length === 0) return
    this.#updates += left.length
    const forget = () => {
      for (const { key } of left) localStorage.removeItem(key)
    }
    this.#put((stores) => {
      for (const { update } of left) stores.updates.add(update)
      putUnsaved(stores, this.unsaved)
    }, forget)
  }

  // Writes one state in place of all updates. Another tab may have written some that this page does not have.
  #fold({ updates }: Stores): void {
    this.#updates = 1
    whenRead(updates.getAll(), (all: Uint8Array[]) => {
      this.#live.transact(() => {
        for (const update of all) applyUpdate(this.#live, update)
      }, this)
      updates.clear()
      updates.add(encodeStateAsUpdate(this.#live))
    })
  }

  // A browser that is told at once that a transaction is complete writes it although the page goes.
  #put(change: (stores: Stores) => void, onDone?: () => void): void {
    this.#write((stores, transaction) => {
      change(stores)
      transaction.commit()
    }, onDone)
  }

  // Never throws, because Yjs would then not tell the connection of the update. Each transaction has all stores, so
  // that the last transaction ends when the transactions before it have ended.
  #write(change: (stores: Stores, transaction: IDBTransaction) => void, onDone = () => {}): void {
    if (!this.#isOpen) return
    try {
      const transaction = this.#database.transaction(Object.values(storeNames), 'readwrite')
      this.#lastWrite = new Promise((resolve) => {
        transaction.addEventListener('complete', () => {
          onDone()
          resolve()
        })
        transaction.addEventListener('abort', () => {
          this.#close()
          resolve()
        })
      })
      change(storesOf(transaction), transaction)
    } catch {
      this.#close()
    }
  }

  #close(): void {
    this.#isOpen = false
    this.#live.off('update', this.#onUpdate)
    this.#database.close()
    this.#end.resolve()
  }
}

type Stored = { database: IDBDatabase; updates: Uint8Array[]; unsaved: Map<number, number>; left: Left[] }

type Stores = { updates: IDBObjectStore; notes: IDBObjectStore }

const storeNames = { updates: 'updates', notes: 'custom' }
const prefix = 'document '

// The longest time in milliseconds for which the editor waits for the storage.
const patienceMs = 2000

// So many updates are written before one state takes their place.
const mostUpdates = 500

async function readStored(name: string): Promise<Stored> {
  const database = await openCopy(name)
  const stores = storesOf(database.transaction(Object.values(storeNames)))
  const [updates, notes] = await Promise.all([getAll(stores.updates), getAllKeysValues(stores.notes)])
  const unsaved = notes.flatMap(({ k, v }): [number, number][] => (typeof k === 'number' ? [[k, v]] : []))
  return { database, updates, unsaved: new Map(unsaved), left: leftUpdates(name) }
}

function openCopy(name: string): Promise<IDBDatabase> {
  const { updates, notes } = storeNames
  return openDB(name, (made) => createStores(made, [[updates, { autoIncrement: true }], [notes]]))
}

// The clients of what was left, each with the number of its insertions before what was left.
function clientsOf({ update }: Left): [number, number][] {
  const first = new Map<number, number>()
  for (const { id } of decodeUpdate(update).structs) {
    first.set(id.client, Math.min(id.clock, first.get(id.client) ?? id.clock))
  }
  return [...first]
}

function putUnsaved({ notes }: Stores, unsaved: ReadonlyMap<number, number>): void {
  for (const [client, stored] of unsaved) notes.put(stored, client)
}

function whenRead<Result>(request: IDBRequest<Result>, use: (result: Result) => void): void {
  request.addEventListener('success', () => use(request.result))
}

function storesOf(transaction: IDBTransaction): Stores {
  const { updates, notes } = storeNames
  return { updates: transaction.objectStore(updates), notes: transaction.objectStore(notes) }
}

function prefixOf(userId: string): string {
  return `${prefix}${userId} `
}

// A database with text that was not sent stays until its user comes back, or somebody signs out.
async function removeCopiesOfOthers(userId: string): Promise<void> {
  for (const { name = '' } of await indexedDB.databases()) {
    if (!name.startsWith(prefix) || name.startsWith(prefixOf(userId))) continue
    const database = await openCopy(name)
    const unsaved = await count(storesOf(database.transaction(Object.values(storeNames))).notes)
    database.close()
    if (unsaved === 0 && leftUpdates(name).length === 0) indexedDB.deleteDatabase(name)
  }
}

function patience(): Promise<null> {
  return new Promise((resolve) => setTimeout(() => resolve(null), patienceMs))
}
