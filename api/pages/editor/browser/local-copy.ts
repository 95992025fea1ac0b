import { createStores, deleteDB, get, getAll, openDB } from 'lib0/indexeddb'
import { applyUpdate, type Doc, encodeStateAsUpdate } from 'yjs'
import type { PageData } from './page-data.ts'

/**
 * Reads the copy of a document into `live`, and keeps the copy up to date from then on. Each user of a browser has
 * copies of their own, and the copies of other users are removed. Resolves to null when the browser stores nothing.
 */
export async function openLocalCopy(live: Doc, { userId, documentId }: PageData): Promise<LocalCopy | null> {
  try {
    await removeCopiesOfOthers(userId)
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
  /** Whether the page that wrote the copy had text that was not known to be stored by the service. */
  readonly hadUnsaved: boolean
  readonly #live: Doc
  readonly #database: IDBDatabase
  #updates: number
  #isOpen = true
  readonly #end = Promise.withResolvers<void>()
  #lastWrite: Promise<void> = Promise.resolve()

  constructor(live: Doc, { database, updates, unsaved }: Stored) {
    this.#live = live
    this.#database = database
    this.#updates = updates.length
    this.hadUnsaved = unsaved === 1
    // Another tab removes the copy, or the browser closes the storage of a page in the background.
    for (const event of ['versionchange', 'close']) database.addEventListener(event, () => this.#close())
    live.transact(() => {
      for (const update of updates) applyUpdate(live, update)
    }, this)
    live.on('update', this.#onUpdate)
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
   * Notes whether there is text now that is not known to be stored by the service. Another tab may have been closed
   * with such text. The text comes into this document then, as if it were typed here, and is sent and noted anew.
   */
  noteUnsaved(unsaved: boolean): void {
    const known = this.#updates
    this.#write((stores) => {
      if (unsaved) return void stores.notes.put(1, unsavedKey)
      whenRead(stores.updates.count(), (count) => {
        if (count === known) stores.notes.put(0, unsavedKey)
        else this.#takeOver(stores)
      })
    })
  }

  // Takes over what other tabs have written. Without news for this document, nothing in the copy is unsaved.
  #takeOver({ updates, notes }: Stores): void {
    whenRead(updates.getAll(), (all: Uint8Array[]) => {
      let isNew = false
      const note = () => {
        isNew = true
      }
      this.#live.on('update', note)
      for (const update of all) applyUpdate(this.#live, update)
      this.#live.off('update', note)
      if (!isNew) notes.put(0, unsavedKey)
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
    await Promise.race([deleteDB(this.#database.name).catch(() => {}), patience()])
  }

  readonly #onUpdate = (update: Uint8Array, origin: unknown): void => {
    if (this.isSource(origin)) return
    this.#updates += 1
    this.#write((stores) => (this.#updates < mostUpdates ? stores.updates.add(update) : this.#fold(stores)))
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

  // Never throws, because Yjs would then not tell the connection of the update. Each transaction has all stores, so
  // that the last transaction ends when the transactions before it have ended.
  #write(change: (stores: Stores) => void): void {
    if (!this.#isOpen) return
    try {
      const transaction = this.#database.transaction(Object.values(storeNames), 'readwrite')
      this.#lastWrite = new Promise((resolve) => {
        transaction.addEventListener('complete', () => resolve())
        transaction.addEventListener('abort', () => {
          this.#close()
          resolve()
        })
      })
      change(storesOf(transaction))
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

type Stored = { database: IDBDatabase; updates: Uint8Array[]; unsaved: unknown }

type Stores = { updates: IDBObjectStore; notes: IDBObjectStore }

const storeNames = { updates: 'updates', notes: 'custom' }
const unsavedKey = 'unsaved'
const prefix = 'document '

// The longest time in milliseconds for which the editor waits for the storage.
const patienceMs = 2000

// So many updates are written before one state takes their place.
const mostUpdates = 500

async function readStored(name: string): Promise<Stored> {
  const { updates, notes } = storeNames
  const database = await openDB(name, (made) => createStores(made, [[updates, { autoIncrement: true }], [notes]]))
  const stores = storesOf(database.transaction([updates, notes]))
  const [all, unsaved] = await Promise.all([getAll(stores.updates), get(stores.notes, unsavedKey)])
  return { database, updates: all, unsaved }
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

async function removeCopiesOfOthers(userId: string): Promise<void> {
  for (const { name = '' } of await indexedDB.databases()) {
    if (name.startsWith(prefix) && !name.startsWith(prefixOf(userId))) indexedDB.deleteDatabase(name)
  }
}

function patience(): Promise<null> {
  return new Promise((resolve) => setTimeout(() => resolve(null), patienceMs))
}
