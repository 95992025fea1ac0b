import type { Response } from 'express'
import type { EventFilter } from '../../shared/events/queries.ts'
import type { StreamLease } from '../../shared/events/stream-leases.ts'
import { authRevoked, heartbeat, type WireEvent } from './wire.ts'

/**
 * A map of the texts that one delivery has rendered so far. The key is the audience of a text: streams with the same
 * filter are one audience. A text is null when no event is for the audience.
 */
export type Rendered = Map<string, Buffer | null>

/** An open reader of events, as the hub sees it: a stream over Server-Sent Events, or a follower in this process. */
export type EventReader = {
  /** The token whose rights the reader has. */
  readonly tokenId: string
  readonly lease: StreamLease
  /** Hands on the events that the reader may see. */
  deliver: (events: readonly WireEvent[], rendered: Rendered) => void
  /** Replaces the workspaces whose events the reader gets. */
  show: (workspaceIds: readonly string[]) => void
  /** Is called at every heartbeat. A reader that has taken nothing for `patienceMs` milliseconds is cut off. */
  beat: (patienceMs: number) => void
  /** Ends the reader because its token was revoked or has expired. */
  revoke: (reason: 'revoked' | 'expired') => void
  /** Ends the reader because the service ends. */
  end: () => void
  /** Ends the reader at once. */
  cut: () => void
}

/** The part of the event log from which a stream gets the events that it has missed. */
export type StreamSource = {
  /** The id up to which events have been delivered to live streams. */
  newest: () => number
  /**
   * The next events after the id `after`, in order; `upTo` is the id up to which no event is missing. Null when events
   * after `after` have been purged.
   */
  page: (input: {
    filter: EventFilter
    after: number
  }) => Promise<{ events: readonly WireEvent[]; upTo: number } | null>
}

/** The parts from which a stream is made. */
export type StreamOptions = {
  tokenId: string
  lease: StreamLease
  response: Response
  source: StreamSource
  filter: EventFilter
  /** The id after which the client gets events. */
  position: number
  /** Row numbers of events that happened before the stream opened, but get their ids afterwards. */
  missed: readonly number[]
}

// The time, in milliseconds, in which a client must read the end of its stream. Then the connection is cut.
const closingMs = 5000

/**
 * One open stream. A stream is live while its client keeps up. Once the socket is full, no event is queued. The stream
 * only remembers its position, and reads on from the log after the client has read. So a slow client costs the memory
 * of one page of events. A client that reads nothing at all is cut off and resumes with its last id.
 */
export class EventStream implements EventReader {
  readonly tokenId: string
  readonly lease: StreamLease
  readonly #response: Response
  readonly #source: StreamSource
  readonly #missed: Set<number>
  #filter: EventFilter
  #audience = ''
  #position: number
  #live = false
  #over = false
  /** When the socket became full, in milliseconds of `performance.now()`; undefined while it takes data. */
  #blockedAt: number | undefined

  constructor(options: StreamOptions) {
    this.tokenId = options.tokenId
    this.lease = options.lease
    this.#response = options.response
    this.#source = options.source
    this.#filter = options.filter
    this.#position = options.position
    this.#missed = new Set(options.missed)
    this.#setAudience()
  }

  /** Sends the opening and the events that the client has missed. Resolves when the stream is live, or over. */
  async start(opening: string): Promise<void> {
    if (this.#over) return
    this.#write(opening)
    await this.#catchUp()
  }

  /** Sends the events if the stream is live. A stream that still catches up reads these events from the log itself. */
  deliver(events: readonly WireEvent[], rendered: Rendered): void {
    if (!this.#live) return
    const text = this.#render(events, rendered)
    this.#position = Math.max(this.#position, events.at(-1)?.id ?? 0)
    if (text !== null && !this.#write(text)) void this.#resume()
  }

  /** Replaces the workspaces whose events the stream sends. */
  show(workspaceIds: readonly string[]): void {
    this.#filter = { ...this.#filter, workspaceIds }
    this.#setAudience()
  }

  /** Sends a heartbeat, or cuts the stream when its client has read nothing for `patienceMs` milliseconds. */
  beat(patienceMs: number): void {
    if (this.#over) return
    if (this.#blockedAt !== undefined) {
      if (performance.now() - this.#blockedAt >= patienceMs) this.cut()
    } else if (!this.#write(heartbeat) && this.#live) void this.#resume()
  }

  /** Tells the client that its token was revoked or has expired, and closes. */
  revoke(reason: 'revoked' | 'expired'): void {
    this.end(authRevoked(reason))
  }

  /**
   * Closes the stream after the client has got everything that was sent and the text `last`. After five seconds the
   * connection is cut in any case.
   */
  end(last = ''): void {
    if (this.#over) return
    this.#over = true
    this.#live = false
    this.#response.end(last)
    setTimeout(() => this.#response.destroy(), closingMs).unref()
  }

  /** Cuts the connection at once. When the client resumes, it gets the events that it has not read. */
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
      // The log cannot be read now, so the connection is cut. The client reconnects with its last id.
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

  // Resolves when the socket takes data again, or is closed.
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

  // Streams of the same audience share one rendering and its memory. A stream that has just opened renders for itself
  // while it is ahead of the other streams or has events to leave out.
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
