import { IndexeddbPersistence } from 'y-indexeddb'
import type { Doc } from 'yjs'
import type { PageData } from './page-data.ts'

/** A copy of a live document in the storage of the browser. What is typed without a connection survives a reload. */
export type LocalCopy = {
  /** Whether the page that wrote the copy had text that was not known to be stored by the service. */
  hadUnsaved: boolean
  /** Notes whether there is such text now. */
  noteUnsaved: (unsaved: boolean) => void
  /** Resolves when the copy has everything that the document has now. */
  hasAll: () => Promise<void>
  /** Whether an update of the document came from the copy. */
  isSource: (origin: unknown) => boolean
  /** Removes the copy, which is not kept any more. */
  remove: () => Promise<void>
}

// The longest time in milliseconds for which the editor waits for the storage.
const patienceMs = 2000

/**
 * Reads the copy of a document into `live`, and keeps the copy up to date from then on. Each user of a browser has
 * copies of their own, and the copies of other users are removed. Resolves to null when the browser stores nothing.
 */
export async function openLocalCopy(live: Doc, { userId, documentId }: PageData): Promise<LocalCopy | null> {
  try {
    await removeCopiesOfOthers(userId)
  } catch {
    return null
  }
  const persistence = new IndexeddbPersistence(`${prefixOf(userId)}${documentId}`, live)
  const isRead = await Promise.race([persistence.whenSynced.then(() => true), patience()])
  if (!isRead) {
    void persistence.destroy()
    return null
  }
  let isKept = true
  return {
    hadUnsaved: (await persistence.get(unsavedKey)) === 1,
    noteUnsaved: (unsaved) => void (isKept && persistence.set(unsavedKey, Number(unsaved))),
    hasAll: async () => void (isKept && (await written(persistence))),
    isSource: (origin) => origin === persistence,
    remove() {
      isKept = false
      return persistence.clearData()
    },
  }
}

const prefix = 'document '
const unsavedKey = 'unsaved'

function prefixOf(userId: string): string {
  return `${prefix}${userId} `
}

// A transaction of the browser's storage begins when the writes to the same store before it have ended.
function written({ db }: IndexeddbPersistence): Promise<void> {
  return new Promise((resolve) => {
    const transaction = db?.transaction('updates', 'readonly')
    transaction?.addEventListener('complete', () => resolve())
    transaction?.objectStore('updates').count()
  })
}

async function removeCopiesOfOthers(userId: string): Promise<void> {
  for (const { name = '' } of await indexedDB.databases()) {
    if (name.startsWith(prefix) && !name.startsWith(prefixOf(userId))) indexedDB.deleteDatabase(name)
  }
}

function patience(): Promise<false> {
  return new Promise((resolve) => setTimeout(() => resolve(false), patienceMs))
}
