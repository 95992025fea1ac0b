import { setTimeout as sleep } from 'node:timers/promises'
import { type KnowledgeBase, KnowledgeBaseError } from '../../client/client.ts'
import { mayPass } from '../../client/events.ts'
import { Failure } from '../frame/failures.ts'
import type { SyncService } from './service.ts'
import type { SyncSession } from './session.ts'
import type { SyncTarget } from './state.ts'
import { WatchedFolders } from './watched-folders.ts'

/** What is watched. `onTrouble` is told of an error that may pass; the watch goes on. */
export type Watched = {
  root: string
  target: SyncTarget
  session: SyncSession
  service: SyncService
  client: KnowledgeBase
  signal: AbortSignal
  onTrouble: (error: KnowledgeBaseError) => void
}

// A program that saves a file writes several times. The sync waits for a pause, but not for ever. Milliseconds.
const pauseMs = 40
const longestPauseMs = 250
// Names of folders and moves of folders have no event, so the service is listed anew from time to time.
const relistMs = 60_000
// How soon a failed round is repeated.
const repeatMs = 5000

/**
 * Calls `onChange` whenever something has changed in the folder or in the service, one call at a time, until the signal
 * is aborted. Throws when the token loses its right, or when the service refuses to go on.
 */
export async function watchSides(watched: Watched, onChange: () => Promise<void>): Promise<never> {
  const { session, signal } = watched
  const wake = new Wake()
  const stop = new AbortController()
  const ended = AbortSignal.any([signal, stop.signal])
  const folders = new WatchedFolders(watched.root, () => wake.call())
  folders.follow(session.directories)
  const listing = setInterval(() => {
    session.relist()
    wake.call()
  }, relistMs)
  const changed = new Map<string, ChangedDocument>()
  const events = followEvents({ ...watched, signal: ended }, { changed, wake })
  const failure = events.catch((error: unknown) => error)
  try {
    for (;;) {
      const error = await Promise.race([wake.pause(), failure])
      if (error !== undefined) throw error
      signal.throwIfAborted()
      try {
        await learn(watched, changed)
        await onChange()
        folders.follow(session.directories)
      } catch (error) {
        signal.throwIfAborted()
        if (!(error instanceof KnowledgeBaseError && mayPass(error))) throw error
        watched.onTrouble(error)
        await sleep(repeatMs, undefined, { signal })
        session.relist()
        wake.call()
      }
    }
  } finally {
    stop.abort()
    clearInterval(listing)
    folders.close()
  }
}

/** What an event has told of a document: its version, title and folder, and whether other metadata may have changed. */
type ChangedDocument = {
  seen: { version: string; title: string; folder_id: number | null } | null
  isMetadata: boolean
}

/** A bell that is rung by whoever has seen a change. */
class Wake {
  #last = 0
  #first = 0
  #ring: (() => void) | null = null

  call(): void {
    this.#last = performance.now()
    if (this.#first === 0) this.#first = this.#last
    this.#ring?.()
  }

  /** Resolves when it has rung and nothing has changed for a moment. */
  async pause(): Promise<void> {
    if (this.#first === 0) {
      await new Promise<void>((resolve) => {
        this.#ring = resolve
      })
    }
    for (;;) {
      const now = performance.now()
      const left = Math.min(this.#last + pauseMs, this.#first + longestPauseMs) - now
      if (left <= 0) break
      await sleep(left)
    }
    this.#first = 0
    this.#ring = null
  }
}

type Followed = { changed: Map<string, ChangedDocument>; wake: Wake }

async function followEvents({ client, session, target, signal }: Watched, { changed, wake }: Followed): Promise<never> {
  const onOpen = () => {
    session.relist()
    wake.call()
  }
  for await (const event of client.events({ signal, onOpen })) {
    if (event.type === 'auth.revoked') {
      throw new Failure('denied', `token_${event.reason}`, { message: `The token was ${event.reason}.` })
    }
    if (event.type === 'sync.required') {
      onOpen()
      continue
    }
    const { document, document_id: id } = event
    if (document.knowledge_base_id !== target.knowledge_base_id && session.known(id) === undefined) continue
    const isMetadata = event.type === 'document.metadata.updated' || (changed.get(id)?.isMetadata ?? false)
    changed.set(id, { seen: event.type === 'document.deleted' ? null : document, isMetadata })
    wake.call()
  }
  throw new Failure('failed', 'stream_ended', { message: 'The service has ended the event stream.' })
}

// Reads the documents that have changed. The events about what this sync has written itself tell nothing new.
async function learn({ session, service }: Watched, changed: Map<string, ChangedDocument>): Promise<void> {
  for (const [id, { seen, isMetadata }] of changed) {
    // An event that arrives while the document is read tells of a later state, and is looked at again.
    changed.delete(id)
    const known = session.known(id)
    const isNew =
      known?.version !== seen?.version || known?.title !== seen?.title || known?.folder_id !== seen?.folder_id
    if (seen === null) session.learn(id, null)
    else if (known === undefined && session.isOutside(seen.folder_id)) continue
    else if (isNew || isMetadata) session.learn(id, await service.document(id))
  }
}
