import type { Response } from 'express'
import type { EventFilter } from '../../shared/events/queries.ts'
import type { StreamLease } from '../../shared/events/stream-leases.ts'
import { authRevoked, heartbeat, type WireEvent } from './wire.ts'

/** What a delivery has rendered so far, by audience; null when nothing of it is for that audience. */
export type Rendered = Map<string, Buffer | null>

/** Where a stream gets what it has missed. */
export type Source = {
  /** The id up to which events have been delivered to live streams. */
  newest: () => number
  /** Some events after an id, in order; `upTo` is the id they reach. Null when some of them are gone. */
  page: (input: {
    filter: EventFilter
    after: number
  }) => Promise<{ events: readonly WireEvent[]; upTo: number } | null>
}

/** What a stream is made of. */
export type StreamOptions = {
  lease: StreamLease
  response: Response
  source: Source
  filter: EventFilter
  /** The id of the last event that its client is not to get. */
  position: number
  /** Row numbers of events that happened before the stream opened, but get their ids only now. */
  missed: readonly number[]
}

// A client that reads nothing is not waited for any longer once its stream is over.
const closingMs = 5000

/**
 * One open stream. It is live while its client keeps up. As soon as the socket takes no more, nothing is queued for it:
 * it only remembers where it stands, and reads on from the log when the client has read. So a slow client costs no
 * memory beyond one page of events; one that reads nothing at all is cut and resumes with its last id.
 */
export class EventStream {
  readonly lease: StreamLease
  readonly #response: Response
  readonly #source: Source
  readonly #missed: Set<number>
  #filter: EventFilter
  #audience = ''
  #position: number
  #live = false
  #over = false
  /** Since when the socket has taken nothing, on the clock of `performance`. */
  #blockedAt: number | undefined

  constructor(options: StreamOptions) {
    this.lease = options.lease
    this.#response = options.response
    this.#source = options.source
    this.#filter = options.filter
    this.#position = options.position
    this.#missed = new Set(options.missed)
    this.#setAudience()
  }

  /** Sends the opening and whatever is due; resolves when the stream is live, or over before. */
  async start(opening: string): Promise<void> {
    if (this.#over) return
    this.#write(opening)
    await this.#catchUp()
  }

  /** Sends the events to a live stream; any other gets to them by itself. */
  deliver(events: readonly WireEvent[], rendered: Rendered): void {
    if (!this.#live) return
    const text = this.#render(events, rendered)
    this.#position = Math.max(this.#position, events.at(-1)?.id ?? 0)
    if (text !== null && !this.#write(text)) void this.#resume()
  }

  /** Replaces the workspaces that the caller can see. */
  show(workspaceIds: readonly string[]): void {
    this.#filter = { ...this.#filter, workspaceIds }
    this.#setAudience()
  }

  /** Sends a heartbeat, or cuts the stream when its client has read nothing for that long. */
  beat(patienceMs: number): void {
    if (this.#over) return
    if (this.#blockedAt !== undefined) {
      if (performance.now() - this.#blockedAt >= patienceMs) this.cut()
    } else if (!this.#write(heartbeat) && this.#live) void this.#resume()
  }

  /** Tells the client that its token no longer counts, and closes. */
  revoke(reason: 'revoked' | 'expired'): void {
    this.end(authRevoked(reason))
  }

  /** Closes after what has been sent, and after `last`. */
  end(last = ''): void {
    if (this.#over) return
    this.#over = true
    this.#live = false
    this.#response.end(last)
    setTimeout(() => this.#response.destroy(), closingMs).unref()
  }

  /** Closes at once, whatever the client has read. */
  cut(): void {
    this.#over = true
    this.#live = false
    this.#response.destroy()
  }

  async #resume(): Promise<void> {
    this.#live = false
    try {
      await this.#catchUp()
    } catch {
      // The log cannot be read now; the client comes back with its last id.
      this.cut()
    }
  }

  async #catchUp(): Promise<void> {
    for (;;) {
      await this.#drained()
      if (this.#over) return
      if (this.#position >= this.#source.newest()) {
        this.#live = true
        return
      }
      const page = await this.#source.page({ filter: this.#filter, after: this.#position })
      if (this.#over) return
      if (page === null) {
        this.cut()
        return
      }
      const text = this.#render(page.events, new Map())
      this.#position = page.upTo
      if (text !== null) this.#write(text)
    }
  }

  #write(text: string | Buffer): boolean {
    const taken = this.#response.write(text)
    if (!taken) this.#blockedAt ??= performance.now()
    return taken
  }

  // Resolves when the socket takes more, or never will.
  async #drained(): Promise<void> {
    if (this.#blockedAt === undefined) return
    if (this.#response.writableNeedDrain) {
      await new Promise<void>((resolve) => {
        const done = () => {
          this.#response.off('drain', done).off('close', done)
          resolve()
        }
        this.#response.on('drain', done).on('close', done)
      })
    }
    this.#blockedAt = undefined
    if (this.#response.destroyed) this.#over = true
  }

  // Streams with the same view share one rendering, and so its memory; not while a stream is ahead of the others,
  // which it can be after it has opened.
  #render(events: readonly WireEvent[], rendered: Rendered): Buffer | null {
    if (this.#missed.size > 0 || this.#position >= (events[0]?.id ?? 0)) return this.#select(events)
    const known = rendered.get(this.#audience)
    if (known !== undefined) return known
    const text = this.#select(events)
    rendered.set(this.#audience, text)
    return text
  }

  #select(events: readonly WireEvent[]): Buffer | null {
    const chosen = events.filter((event) => this.#concerns(event)).map(({ text }) => text)
    return chosen.length === 0 ? null : Buffer.concat(chosen)
  }

  #concerns(event: WireEvent): boolean {
    const { workspaceIds, documentSetId, locale } = this.#filter
    return (
      event.id > this.#position &&
      workspaceIds.includes(event.workspaceId) &&
      (documentSetId === undefined || event.documentSetId === documentSetId) &&
      (locale === undefined || event.locale === locale) &&
      !this.#missed.delete(event.rowNo)
    )
  }

  #setAudience(): void {
    const { workspaceIds, documentSetId = null, locale = null } = this.#filter
    this.#audience = JSON.stringify([[...workspaceIds].sort(), documentSetId, locale])
  }
}
