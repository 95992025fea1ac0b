import type { McpHttpHandler, ServerEvent, ServerEventBus } from '@modelcontextprotocol/server'
import type { Caller } from '../../shared/auth/caller.ts'
import type { WireEvent } from '../event-streams/wire.ts'
import { requireScopes } from '../http/authenticate.ts'
import type { Service } from '../http/service.ts'

/** The method of the protocol 2026-07-28 that opens a stream of changes. */
export const listenMethod = 'subscriptions/listen'

// How many notifications a client may leave unread. Further changes wait in a set, where each document counts once.
const mostUnread = 64

/**
 * Serves one request for a stream of changes. The stream has the rights, the limit for each token and the end of an
 * event stream. `message` is the request; `handlerOf` makes the handler of the SDK that reads its events from the given
 * bus, and `answer` has this handler answer the request. Refuses with 403 `insufficient_scope` and 429
 * `too_many_streams`.
 */
export async function subscribe(
  service: Service,
  options: {
    caller: Caller
    message: unknown
    handlerOf: (bus: ServerEventBus) => McpHttpHandler
    answer: (handler: McpHttpHandler) => Promise<Response>
  },
): Promise<Response> {
  const { caller, message, handlerOf, answer } = options
  requireScopes(caller, ['documents:read'])
  const changes = new Changes(wantedBy(message))
  const handler = handlerOf(changes)
  changes.onUnsubscribe = await service.eventStreams.follow({
    caller,
    onEvents: (events) => changes.add(events),
    onEnd: () => void handler.close(),
  })
  try {
    const response = await answer(handler)
    if (!changes.isSubscribed) changes.onUnsubscribe()
    return response.body === null ? response : new Response(response.body.pipeThrough(changes.counted()), response)
  } catch (error) {
    changes.onUnsubscribe()
    throw error
  }
}

/** The notifications that a client has asked for: of changes to documents, by their addresses, and to the list. */
type Wanted = { uris: ReadonlySet<string>; list: boolean }

// The SDK refuses a malformed request. Until then nothing is wanted.
function wantedBy(message: unknown): Wanted {
  const { params } = message as { params?: { notifications?: Record<string, unknown> | null } | null }
  const { resourceSubscriptions: uris, resourcesListChanged } = params?.notifications ?? {}
  return { uris: new Set(Array.isArray(uris) ? uris : []), list: resourcesListChanged === true }
}

/**
 * The changes for one stream. A client that reads slowly gets fewer notifications, each of which stands for all changes
 * of its document. So a stream holds at most one entry for each document that the client has named.
 */
class Changes implements ServerEventBus {
  onUnsubscribe: () => void = () => {}
  readonly #wanted: Wanted
  #listener: ((event: ServerEvent) => void) | undefined
  #unread = 0
  readonly #waiting = new Map<string, ServerEvent>()

  constructor(wanted: Wanted) {
    this.#wanted = wanted
  }

  get isSubscribed(): boolean {
    return this.#listener !== undefined
  }

  /** The bus of the SDK; all events come from the event hub. */
  publish(): void {}

  subscribe(listener: (event: ServerEvent) => void): () => void {
    this.#listener = listener
    return () => {
      this.#listener = undefined
      this.onUnsubscribe()
    }
  }

  add(events: readonly WireEvent[]): void {
    for (const { name, documentId } of events) {
      const uri = `svc://doc/${documentId}`
      if (this.#wanted.uris.has(uri)) this.#waiting.set(uri, { kind: 'resource_updated', uri })
      const isListChange = name !== 'document.content.updated'
      if (this.#wanted.list && isListChange) this.#waiting.set('', { kind: 'resources_list_changed' })
    }
    this.#send()
  }

  /** A stream through which the client reads, and which tells when it does. */
  counted(): TransformStream<Uint8Array, Uint8Array> {
    return new TransformStream({
      transform: (chunk, controller) => {
        controller.enqueue(chunk)
        this.#unread = Math.max(0, this.#unread - 1)
        this.#send()
      },
    })
  }

  #send(): void {
    for (const [key, event] of this.#waiting) {
      if (this.#unread >= mostUnread) return
      this.#waiting.delete(key)
      this.#unread += 1
      this.#listener?.(event)
    }
  }
}
