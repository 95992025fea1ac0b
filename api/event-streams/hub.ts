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
import { type Feed, followLog, pageSize } from './feed.ts'
import { type Leases, openLeases } from './leases.ts'
import { EventStream, type Rendered, type Source, type StreamOptions } from './stream.ts'
import { opening, resumption, syncRequired, type WireEvent, wireEvent } from './wire.ts'

/** What a client asks for when it opens a stream. */
export type StreamRequest = {
  caller: Caller
  documentSetId: string | undefined
  /** Canonical. */
  locale: string | undefined
  /** What it has processed last; null on a first connection, which gets what happens from now on. */
  lastEventId: number | null
}

/** The event streams of this process. */
export type EventStreams = {
  /** Takes one of the token's streams, or refuses with 429; returns what writes it to the response. */
  open: (request: StreamRequest) => Promise<(response: Response) => Promise<void>>
  /** Ends all streams, so that their clients reconnect elsewhere; no stream is opened from now on. */
  end: () => void
  close: () => Promise<void>
}

type Options = { database: Database; config: Config; log: Logger; registry: Registry }

/**
 * Serves all streams of a process from one feed of the log, which starts with the first stream. A stream costs no
 * connection and no statement while it is open: what is to be checked of tokens and renewed of leases is asked once for
 * all of them.
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
  return { open: (request) => hub.open(request), end: () => hub.end(), close: () => hub.close() }
}

// A revoked token, or a membership that is no more, ends or narrows a stream within a heartbeat, and never after more
// than fifteen seconds (decisions 4.15); a third leaves room for a slow database.
const longestDoubtSeconds = 15

// Of a workspace with more writes under way than this, a first connection may get some that precede it.
const missedRows = 1000

const retrySeconds = 5

type StreamStart = Omit<StreamOptions, 'response'> & { syncRequired: boolean }

class Hub {
  readonly #options: Options
  readonly #streams = new Set<EventStream>()
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
    return this.#streams.size
  }

  async open(request: StreamRequest): Promise<(response: Response) => Promise<void>> {
    if (this.#ending) throw new Refusal('service_unavailable', { headers: { 'Retry-After': String(retrySeconds) } })
    const feed = await this.#started()
    const lease = await this.#takeLease(request.caller.tokenId)
    try {
      const { caller, documentSetId, locale, lastEventId } = request
      const filter = { workspaceIds: visibleWorkspaces(caller), documentSetId, locale }
      const start = await this.#startOf(filter, lastEventId)
      const source = this.#source(feed)
      return (response) => this.#attach(response, { lease, source, filter, ...start })
    } catch (error) {
      this.#leases.release(lease)
      throw error
    }
  }

  end(): void {
    this.#ending = true
    for (const stream of this.#streams) stream.end()
  }

  async close(): Promise<void> {
    this.end()
    for (const timer of this.#timers) clearInterval(timer)
    await this.#feed?.then((feed) => feed.close()).catch(() => {})
    for (const stream of this.#streams) this.#detach(stream)
    await this.#leases.settled()
  }

  async #attach(response: Response, start: StreamStart): Promise<void> {
    const stream = new EventStream({ ...start, response })
    this.#streams.add(stream)
    response.on('close', () => this.#detach(stream))
    if (response.destroyed) this.#detach(stream)
    if (this.#ending) stream.end()
    await stream.start(start.syncRequired ? opening + syncRequired(start.position) : opening)
  }

  #detach(stream: EventStream): void {
    if (!this.#streams.delete(stream)) return
    stream.cut()
    this.#leases.release(stream.lease)
  }

  async #takeLease(tokenId: string): Promise<StreamLease> {
    const lease = await this.#leases.take(tokenId)
    if (lease !== null) return lease
    const limit = this.#options.config.SSE_MAX_STREAMS_PER_TOKEN
    throw new Refusal('too_many_streams', { details: { limit }, headers: { 'Retry-After': String(retrySeconds) } })
  }

  async #startOf(filter: EventFilter, lastEventId: number | null) {
    const { database } = this.#options
    if (lastEventId !== null) return { ...resumption(lastEventId, await logExtent(database)), missed: [] }
    // In this order: what gets its id between the two statements is known by its row, or comes after the newest.
    const missed = await unnumberedRows(database, { workspaceIds: filter.workspaceIds, limit: missedRows })
    return { position: (await logExtent(database)).newest, syncRequired: false, missed }
  }

  #source({ recent }: Feed): Source {
    const { database } = this.#options
    return {
      newest: () => recent.newest,
      async page({ filter, after }) {
        const held = recent.after(after, pageSize)
        if (held !== null) return { events: held, upTo: held.at(-1)?.id ?? recent.newest }
        const upTo = recent.newest
        const rows = await filteredEvents(database, { filter, after, upTo, limit: pageSize })
        // Asked afterwards: what was purged before the page was read lies below the floor now.
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
    const feed = await followLog({
      database,
      url: config.DATABASE_URL,
      deliver: (events) => this.#deliver(events),
      onError: (error) => this.#warn(error),
    })
    this.#every(this.#doubtMs / 3, () => this.#check())
    this.#every(this.#heartbeatMs, () => this.#beat(feed))
    return feed
  }

  // A run that takes longer than the pause between two is not joined by another.
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
    // After a time without the database nobody knows who may still read.
    if (performance.now() - this.#checkedAt > this.#doubtMs) await this.#check()
    const rendered: Rendered = new Map()
    for (const stream of this.#streams) stream.deliver(events, rendered)
  }

  async #beat(feed: Feed): Promise<void> {
    for (const stream of this.#streams) stream.beat(this.#heartbeatMs)
    feed.wake()
    await this.#leases.renew([...this.#streams].map(({ lease }) => lease))
  }

  async #check(): Promise<void> {
    const asked = performance.now()
    const streams = [...this.#streams]
    const tokenIds = [...new Set(streams.map(({ lease }) => lease.tokenId))]
    const standings = tokenIds.length === 0 ? [] : await tokenStandings(this.#options.database, tokenIds)
    const byToken = new Map(standings.map((standing) => [standing.token_id, standing]))
    for (const stream of streams) {
      const standing = byToken.get(stream.lease.tokenId)
      if (standing === undefined || standing.revoked_at !== null) stream.revoke('revoked')
      else if (standing.expires_at !== null && standing.expires_at <= Date.now()) stream.revoke('expired')
      else stream.show(standing.workspace_ids)
    }
    this.#checkedAt = asked
  }

  #warn(err: unknown): void {
    this.#options.log.warn({ err }, 'event streams')
  }
}
