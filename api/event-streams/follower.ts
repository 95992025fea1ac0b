import type { StreamLease } from '../../shared/events/stream-leases.ts'
import type { EventReader } from './stream.ts'
import type { WireEvent } from './wire.ts'

/** Why a follower has ended: its token was revoked or has expired, or the service ends. */
export type FollowEnd = 'revoked' | 'expired' | 'closing'

/** What a follower does with events, and with the end of its right to them. Both functions return at once. */
export type FollowHandlers = {
  /** Gets events that the token may see, in the order of their ids. */
  onEvents: (events: readonly WireEvent[]) => void
  /** Is called once. No event comes afterwards. */
  onEnd: (reason: FollowEnd) => void
}

/**
 * A reader of events inside this process, which has a protocol of its own towards its client. It gets what happens
 * while it is open, and nothing from before. Its protocol decides when a client is too slow.
 */
export class Follower implements EventReader {
  readonly tokenId: string
  readonly lease: StreamLease
  #workspaceIds: ReadonlySet<string>
  readonly #handlers: FollowHandlers
  #over = false

  constructor(options: { tokenId: string; lease: StreamLease; workspaceIds: readonly string[] } & FollowHandlers) {
    const { tokenId, lease, workspaceIds, ...handlers } = options
    this.tokenId = tokenId
    this.lease = lease
    this.#workspaceIds = new Set(workspaceIds)
    this.#handlers = handlers
  }

  deliver(events: readonly WireEvent[]): void {
    if (this.#over) return
    const visible = events.filter(({ workspaceId }) => this.#workspaceIds.has(workspaceId))
    if (visible.length > 0) this.#handlers.onEvents(visible)
  }

  show(workspaceIds: readonly string[]): void {
    this.#workspaceIds = new Set(workspaceIds)
  }

  beat(): void {}

  revoke(reason: 'revoked' | 'expired'): void {
    this.#finish(reason)
  }

  end(): void {
    this.#finish('closing')
  }

  cut(): void {
    this.#over = true
  }

  #finish(reason: FollowEnd): void {
    if (this.#over) return
    this.#over = true
    this.#handlers.onEnd(reason)
  }
}
