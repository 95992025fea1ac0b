import type { Response } from 'express'
import { Gauge, type Registry } from 'prom-client'
import { type Caller, visibleWorkspaces } from '../../shared/auth/caller.ts'
import { tokenStandings } from '../../shared/auth/queries.ts'
import type { Config } from '../../shared/config/config.ts'
import type { Database } from '../../shared/database/database.ts'
import { Refusal } from '../../shared/errors/errors.ts'
import { type EventFilter, filteredEvents, logExtent, unnumberedRows } from '../../shared/events/queries.ts'
import type { StreamLease } from '../../shared/events/stream-leases.ts'
import type { Logger } from '../../shared/process/log.ts'
import { type Feed, pageSize, tailLog } from './feed.ts'
import { Follower, type FollowHandlers } from './follower.ts'
import { type Leases, openLeases } from './leases.ts'
import { type EventReader, EventStream, type Rendered, type StreamOptions, type StreamSource } from './stream.ts'
import { opening, resumption, syncRequired, type WireEvent, wireEvent } from './wire.ts'

/** A client's request for a stream. */
export type StreamRequest = {
  caller: Caller
  documentSetId: string | undefined
  /** A canonical BCP 47 tag. */
  locale: string | undefined
  /**
   * The id of the last event that the client has processed. Null on a first connection, which gets only the events that
   * happen after it.
   */
  lastEventId: number | null
}

/** The event streams of this process. */
export type EventStreams = {
  /**
   * Takes a lease for the caller's credential and returns the function that writes the stream to the response. Refuses
   * with 429 `too_many_streams`, and with 503 while the service ends.
   */
  open: (request: StreamRequest) => Promise<(response: Response) => Promise<void>>
  /**
   * Follows the events that the caller may see, with a lease as any stream. Returns the function that ends
   * the following. Refuses as `open` does.
   */
  follow: (request: { caller: Caller } & FollowHandlers) => Promise<() => void>
  /** Ends all streams, so that their clients reconnect elsewhere, and opens no more streams. */
  end: () => void
  /** Ends all streams, stops reading the log and releases all leases. */
  close: () => Promise<void>
}

type Options = { database: Database; config: Config; log: Logger; registry: Registry }

/**
 * Serves all streams of a process from one feed of the log. The feed starts with the first stream. An open stream costs
 * no connection and no statement of its own: one statement checks the tokens of all streams, and another renews all
 * leases.
 */
export function openEventStreams(options: Options): EventStreams {
  const hub = new Hub(options)
  new Gauge({
    name: 'svc_event_streams',
    help: 'Open event streams',
    registers: [options.registry],
    collect() {
      this.set(hub.size)
    },
  })
  return {
    open: (request) => hub.open(request),
    follow: (request) => hub.follow(request),
    end: () => hub.end(),
    close: () => hub.close(),
  }
}

// The longest time for which a stream may rely on the rights of its token as they were last read. The end of a token or
// membership takes effect within a heartbeat or 15 seconds, whichever is shorter. Rights are read three times in that
// span, because the database may be slow.
const longestDoubtSeconds = 15

// The most events without an id that a first connection can leave out because they happened before it. When more events
// wait for their ids, the connection may get some older events.
const missedRows = 1000

const retrySeconds = 5

type StreamStart = Omit<StreamOptions, 'response'> & { syncRequired: boolean }

class Hub {
  readonly #options: Options
  readonly #readers = new Set<EventReader>()
  readonly #leases: Leases
  readonly #timers: NodeJS.Timeout[] = []
  readonly #heartbeatMs: number
  readonly #doubtMs: number
  #feed: Promise<Feed> | undefined
  #checkedAt = 0
  #ending = false

  constructor(options: Options) {
    this.#options = options
    const heartbeat = options.config.SSE_HEARTBEAT_SECONDS
    this.#heartbeatMs = heartbeat * 1000
    this.#doubtMs = Math.min(heartbeat, longestDoubtSeconds) * 1000
    this.#leases = openLeases({
      database: options.database,
      limit: options.config.SSE_MAX_STREAMS_PER_TOKEN,
      renewedSeconds: heartbeat,
      onError: (error) => this.#warn(error),
    })
  }

  get size(): number {
    return this.#readers.size
  }

  async open(request: StreamRequest): Promise<(response: Response) => Promise<void>> {
    const { feed, lease } = await this.#admit(request.caller)
    try {
      const { caller, documentSetId, locale, lastEventId } = request
      const filter = { workspaceIds: visibleWorkspaces(caller), documentSetId, locale }
      const start = await this.#startOf(filter, lastEventId)
      const source = this.#source(feed)
      return (response) => this.#attach(response, { tokenId: caller.tokenId, lease, source, filter, ...start })
    } catch (error) {
      this.#leases.release(lease)
      throw error
    }
  }

  async follow({ caller, ...handlers }: { caller: Caller } & FollowHandlers): Promise<() => void> {
    const { lease } = await this.#admit(caller)
    const follower = new Follower({
      tokenId: caller.tokenId,
      lease,
      workspaceIds: visibleWorkspaces(caller),
      ...handlers,
    })
    this.#readers.add(follower)
    if (this.#ending) follower.end()
    return () => this.#detach(follower)
  }

  end(): void {
    this.#ending = true
    for (const reader of this.#readers) reader.end()
  }

  async close(): Promise<void> {
    this.end()
    for (const timer of this.#timers) clearInterval(timer)
    await this.#feed?.then((feed) => feed.close()).catch(() => {})
    for (const reader of this.#readers) this.#detach(reader)
    await this.#leases.settled()
  }

  async #attach(response: Response, start: StreamStart): Promise<void> {
    const stream = new EventStream({ ...start, response })
    this.#readers.add(stream)
    response.on('close', () => this.#detach(stream))
    if (response.destroyed) this.#detach(stream)
    if (this.#ending) stream.end()
    await stream.start(start.syncRequired ? opening + syncRequired(start.position) : opening)
  }

  #detach(reader: EventReader): void {
    if (!this.#readers.delete(reader)) return
    reader.cut()
    this.#leases.release(reader.lease)
  }

  async #admit(caller: Caller): Promise<{ feed: Feed; lease: StreamLease }> {
    if (this.#ending) throw new Refusal('service_unavailable', { headers: { 'Retry-After': String(retrySeconds) } })
    const feed = await this.#started()
    return { feed, lease: await this.#takeLease(caller.credentialId) }
  }

  async #takeLease(credentialId: string): Promise<StreamLease> {
    const lease = await this.#leases.take(credentialId)
    if (lease !== null) return lease
    const limit = this.#options.config.SSE_MAX_STREAMS_PER_TOKEN
    throw new Refusal('too_many_streams', { details: { limit }, headers: { 'Retry-After': String(retrySeconds) } })
  }

  async #startOf(filter: EventFilter, lastEventId: number | null) {
    const { database } = this.#options
    if (lastEventId !== null) return { ...resumption(lastEventId, await logExtent(database)), missed: [] }
    // The order of the two statements matters. An event that has no id at the first statement is among `missed`. Every
    // earlier event has an id up to `newest`. In the other order, an event that got its id between the statements would
    // wrongly be sent.
    const missed = await unnumberedRows(database, { workspaceIds: filter.workspaceIds, limit: missedRows })
    return { position: (await logExtent(database)).newest, syncRequired: false, missed }
  }

  #source({ recent }: Feed): StreamSource {
    const { database } = this.#options
    return {
      newest: () => recent.newest,
      async page({ filter, after }) {
        const kept = recent.after(after, pageSize)
        if (kept !== null) return { events: kept, upTo: kept.at(-1)?.id ?? recent.newest }
        const upTo = recent.newest
        const rows = await filteredEvents(database, { filter, after, upTo, limit: pageSize })
        // `floor`, the highest id that was purged, is read after the page. So `floor` covers every event that was
        // purged before the page was read, and a page with a gap is not returned.
        const { floor } = await logExtent(database)
        if (after < floor) return null
        return { events: rows.map(wireEvent), upTo: rows.length < pageSize ? upTo : (rows.at(-1)?.event_id ?? upTo) }
      },
    }
  }

  #started(): Promise<Feed> {
    this.#feed ??= this.#start().catch((error) => {
      this.#feed = undefined
      throw error
    })
    return this.#feed
  }

  async #start(): Promise<Feed> {
    const { database, config } = this.#options
    this.#checkedAt = performance.now()
    const feed = await tailLog({
      database,
      url: config.DATABASE_URL,
      deliver: (events) => this.#deliver(events),
      onError: (error) => this.#warn(error),
    })
    this.#every(this.#doubtMs / 3, () => this.#check())
    this.#every(this.#heartbeatMs, () => this.#beat(feed))
    return feed
  }

  // Runs `work` at an interval. While a run is still going on, the timer starts no other run.
  #every(milliseconds: number, work: () => Promise<void>): void {
    let running = false
    const run = async () => {
      if (running) return
      running = true
      await work().catch((error) => this.#warn(error))
      running = false
    }
    this.#timers.push(setInterval(() => void run(), milliseconds))
  }

  async #deliver(events: readonly WireEvent[]): Promise<void> {
    // After an outage of the database, the rights were read too long ago to be relied on. So they are read again first.
    if (performance.now() - this.#checkedAt > this.#doubtMs) await this.#check()
    const rendered: Rendered = new Map()
    for (const reader of this.#readers) reader.deliver(events, rendered)
  }

  async #beat(feed: Feed): Promise<void> {
    for (const reader of this.#readers) reader.beat(this.#heartbeatMs)
    feed.wake()
    await this.#leases.renew([...this.#readers].map(({ lease }) => lease))
  }

  async #check(): Promise<void> {
    const asked = performance.now()
    const readers = [...this.#readers]
    const tokenIds = [...new Set(readers.map(({ tokenId }) => tokenId))]
    const standings = tokenIds.length === 0 ? [] : await tokenStandings(this.#options.database, tokenIds)
    const byToken = new Map(standings.map((standing) => [standing.token_id, standing]))
    for (const reader of readers) {
      const standing = byToken.get(reader.tokenId)
      if (standing === undefined || standing.revoked_at !== null) reader.revoke('revoked')
      else if (standing.expires_at !== null && standing.expires_at <= Date.now()) reader.revoke('expired')
      else reader.show(standing.workspace_ids)
    }
    this.#checkedAt = asked
  }

  #warn(err: unknown): void {
    this.#options.log.warn({ err }, 'event streams')
  }
}
