import type { Queryable } from '../database/database.ts'
import { type Listener, listen } from '../database/listener.ts'
import { isOutage } from '../database/outages.ts'
import { currentCall } from '../turns/requester.ts'
import { type IndexedAnnouncement, indexedChannel, readAnnouncement, transactionsIn } from './announcements.ts'
import type { SearchScope } from './statement/request.ts'
import { type StaleDocuments, staleDocuments } from './statement/stale-documents.ts'

// The most searches of a process that wait at a time. Each of them holds a connection of its client and 100 ids.
const mostWaits = 2000

/** A wait of a search: its scope, and the most milliseconds that it lasts. */
type Wait = { scope: SearchScope; waitMs: number }

type Options = {
  database: Queryable
  /** The database to which the process opens one more connection, when a search has to wait for the first time. */
  url: string
  onError: (error: Error) => void
  /** The most searches that wait at a time, by default 2,000. */
  most?: number
}

/**
 * The searches of this process that wait until the index is current (api/guide/search.md#waiting). A wait asks the
 * database once which documents in scope are stale. Then it holds no connection and asks nothing, until workers have
 * announced all these documents on the channel to which the process listens.
 */
export class SearchWaits {
  readonly #options: Options
  readonly #waits = new Set<IndexWait>()
  readonly #byDocument = new Map<string, Set<IndexWait>>()
  #listener: Listener | undefined
  #isEnding = false

  constructor(options: Options) {
    this.#options = options
  }

  /** The number of searches that wait. */
  get size(): number {
    return this.#waits.size
  }

  /**
   * Resolves when everything is indexed that was committed in scope before the call, at the latest after `waitMs`. The
   * caller then searches, and its answer says how much is indexed. Resolves at once while the process ends or too many
   * searches wait, and where the database cannot be asked. Rejects when the client of the call has gone.
   */
  async untilIndexed({ scope, waitMs }: Wait): Promise<void> {
    const { most = mostWaits } = this.#options
    if (waitMs === 0 || this.#isEnding || this.#waits.size >= most) return
    const { signal } = currentCall()
    const wait = new IndexWait()
    const end = () => wait.end()
    const timer = setTimeout(end, waitMs)
    signal?.addEventListener('abort', end)
    this.#waits.add(wait)
    try {
      await this.#untilAnnounced(wait, scope)
    } catch (error) {
      if (!isOutage(error)) throw error
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      this.#waits.delete(wait)
    }
    signal?.throwIfAborted()
  }

  /** Ends all waits, and lets no further search wait. */
  end(): void {
    this.#isEnding = true
    for (const wait of this.#waits) wait.end()
  }

  /** Ends all waits and stops listening. */
  async close(): Promise<void> {
    this.end()
    await this.#listener?.close()
  }

  async #untilAnnounced(wait: IndexWait, scope: SearchScope): Promise<void> {
    for (;;) {
      wait.ask()
      const stale = await Promise.race([staleDocuments(this.#options.database, scope), wait.over])
      if (stale === undefined || stale.count === 0) return
      this.#listener ??= this.#listen()
      const news = await this.#newsOf(wait, stale)
      // Of many stale documents only some were waited for, so the database is asked for the others. So it is when the
      // connection was lost, since announcements may have been missed.
      if (news === 'over' || (news === 'announced' && stale.count === stale.documentIds.length)) return
    }
  }

  async #newsOf(wait: IndexWait, stale: StaleDocuments): Promise<News> {
    const expected = wait.expect(stale)
    for (const id of expected) this.#byDocument.set(id, (this.#byDocument.get(id) ?? new Set()).add(wait))
    const news = await wait.news
    for (const id of expected) {
      const waits = this.#byDocument.get(id)
      waits?.delete(wait)
      if (waits?.size === 0) this.#byDocument.delete(id)
    }
    return news
  }

  #listen(): Listener {
    const { url, onError } = this.#options
    return listen({
      url,
      channel: indexedChannel,
      onNotify: (payload) => {
        const announcement = payload === null ? null : readAnnouncement(payload)
        if (payload === null) for (const wait of this.#waits) wait.reconnected()
        if (announcement !== null) this.#announced(announcement)
      },
      onError,
    })
  }

  #announced(announcement: IndexedAnnouncement): void {
    for (const wait of this.#waits) wait.heard(announcement)
    for (const id of announcement.documentIds) {
      for (const wait of this.#byDocument.get(id) ?? []) wait.announced(id, announcement.transactionId)
    }
  }
}

/** Why a wait goes on: all documents are announced, the connection was lost and is back, or the wait is over. */
type News = 'announced' | 'reconnected' | 'over'

/**
 * A wait of one search. While the database is asked which documents are stale, the wait remembers every announcement.
 * Then it only counts the announcements of these documents, from transactions that the answer of the database did not
 * see. An announcement that the answer saw is older than the write that made the document stale.
 */
class IndexWait {
  readonly #over = Promise.withResolvers<undefined>()
  #news = Promise.withResolvers<News>()
  #isOver = false
  #heard: IndexedAnnouncement[] | null = null
  #expected = new Set<string>()
  #isSeen: (transactionId: bigint) => boolean = () => true

  /** Resolves when the wait is over, whatever it has heard. */
  get over(): Promise<undefined> {
    return this.#over.promise
  }

  get news(): Promise<News> {
    return this.#news.promise
  }

  ask(): void {
    this.#heard = []
    this.#expected = new Set()
    this.#news = Promise.withResolvers()
    if (this.#isOver) this.#news.resolve('over')
  }

  /** Returns the documents whose announcements are still expected. */
  expect({ documentIds, snapshot }: StaleDocuments): readonly string[] {
    this.#expected = new Set(documentIds)
    this.#isSeen = transactionsIn(snapshot)
    const heard = this.#heard ?? []
    this.#heard = null
    for (const { documentIds, transactionId } of heard) for (const id of documentIds) this.announced(id, transactionId)
    return [...this.#expected]
  }

  heard(announcement: IndexedAnnouncement): void {
    this.#heard?.push(announcement)
  }

  announced(id: string, transactionId: bigint): void {
    if (this.#isSeen(transactionId)) return
    this.#expected.delete(id)
    if (this.#expected.size === 0) this.#news.resolve('announced')
  }

  reconnected(): void {
    this.#news.resolve('reconnected')
  }

  end(): void {
    this.#isOver = true
    this.#over.resolve(undefined)
    this.#news.resolve('over')
  }
}
