import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { KnowledgeBaseError } from './errors.ts'
import type { components } from './openapi.d.ts'
import { backoff, pause } from './pauses.ts'
import { watched } from './streams.ts'
import { type Connection, send } from './transport.ts'

/** A change of a document, with the state of the document after it or the last state before its deletion. */
export type DocumentEvent = {
  type: 'document.created' | 'document.metadata.updated' | 'document.content.updated' | 'document.deleted'
  event_id: number
  workspace_id: string
  document_id: string
  created_at: number
  document: Pick<
    components['schemas']['Document'],
    | 'id'
    | 'title'
    | 'document_type'
    | 'knowledge_base_id'
    | 'folder_id'
    | 'document_set_id'
    | 'locale'
    | 'variant_role'
    | 'version'
    | 'updated_at'
  >
}

/** Events before `resume_from` are gone: read again what you keep, and go on with the events that follow. */
export type SyncRequired = { type: 'sync.required'; event_id: number; created_at: number; resume_from: number }

/** The last event of a stream whose token has no right any more. */
export type AuthRevoked = { type: 'auth.revoked'; reason: 'revoked' | 'expired'; created_at: number }

/** An event of the stream, by its `type`. */
export type StreamEvent = DocumentEvent | SyncRequired | AuthRevoked

/** Options of the event stream. */
export type EventsOptions = {
  /** The `event_id` of the last event that was processed; 0 for everything that is kept. By default, from now on. */
  lastEventId?: number | undefined
  /** Only events of documents of this set. */
  documentSetId?: string | undefined
  /** Only events of documents in this language. */
  locale?: string | undefined
  /** Ends the stream: the loop over the events then throws the reason of the signal. */
  signal?: AbortSignal | undefined
  /** Milliseconds without event and heartbeat after which the connection counts as broken; 45,000 by default. */
  heartbeatTimeout?: number | undefined
  /**
   * Is called whenever the stream is open, again after each interruption: every later event will arrive. The number is
   * the `lastEventId` behind which the stream goes on. Keep it, so that a restart before the first event misses
   * nothing.
   */
  onOpen?: ((lastEventId: number) => void) | undefined
}

/**
 * The events as they happen. A connection that breaks is opened again behind the last event, for as long as it takes.
 * So no event is missed, and none comes twice. Throws a KnowledgeBaseError when the first connection fails, or when the
 * service refuses to go on. Ends after `auth.revoked`.
 */
export async function* eventsOf(
  connection: Connection,
  options: EventsOptions,
): AsyncGenerator<StreamEvent, void, undefined> {
  const { signal, onOpen } = options
  const position: Position = { after: options.lastEventId ?? null }
  let isFirst = true
  for (let failures = 0; ; ) {
    let error: KnowledgeBaseError | null = null
    const begun = performance.now()
    try {
      const body = await open(connection, { ...options, position, ...(!isFirst && { maxRetries: 0 }) })
      isFirst = false
      if (position.after !== null) onOpen?.(position.after)
      for await (const event of readEvents(body, { ...options, position })) {
        failures = 0
        if ('position' in event) {
          onOpen?.(event.position)
          continue
        }
        yield event
        if (event.type === 'auth.revoked') return
      }
    } catch (thrown) {
      signal?.throwIfAborted()
      if (isFirst || !(thrown instanceof KnowledgeBaseError && mayPass(thrown))) throw thrown
      error = thrown
    }
    failures = performance.now() - begun > steadyMs ? 1 : failures + 1
    error ??= new KnowledgeBaseError('the service has ended the event stream', { code: 'connection_failed' })
    const longest = Math.min(longestDelay, connection.maxRetryDelay)
    const delay = Math.max(backoff(failures, longest), Math.min(error.retryAfter ?? 0, longestDelay / 1000) * 1000)
    connection.onRetry({ error, attempt: failures, delay })
    await pause(delay, signal)
  }
}

// A connection that has lasted so long was no failed attempt. Both are in milliseconds.
const steadyMs = 10_000
const longestDelay = 30_000

/** The event after which the stream goes on; null until the service has said where `now` is. */
type Position = { after: number | null }

type Reading = EventsOptions & { position: Position }

// A stream without a position would lose what happens between its first connection and the next one. An id above all
// ids makes the service tell its newest one.
const aboveAllIds = String(Number.MAX_SAFE_INTEGER)

async function open(connection: Connection, options: Reading & { maxRetries?: number }) {
  const { position, documentSetId, locale, signal, maxRetries } = options
  const query = new URLSearchParams()
  if (documentSetId !== undefined) query.set('document_set_id', documentSetId)
  if (locale !== undefined) query.set('locale', locale)
  const { body } = await send(connection, {
    method: 'GET',
    url: `${connection.address}/events${query.size > 0 ? `?${query}` : ''}`,
    headers: new Headers({ 'last-event-id': position.after === null ? aboveAllIds : String(position.after) }),
    signal,
    maxRetries,
  })
  return body ?? new ReadableStream<Uint8Array>({ start: (controller) => controller.close() })
}

async function* readEvents(body: ReadableStream<Uint8Array>, options: Reading) {
  const { position, signal, heartbeatTimeout: idle = 45_000 } = options
  for await (const { event: type, data } of messagesOf(watched(body, { idle, signal }))) {
    if (!isKnown(type)) continue
    const event = { type, ...(JSON.parse(data) as object) } as StreamEvent
    if (event.type === 'auth.revoked') {
      yield event
    } else if (position.after === null && event.type === 'sync.required') {
      position.after = event.resume_from
      yield { position: event.resume_from }
    } else if (event.type === 'sync.required' || position.after === null || event.event_id > position.after) {
      position.after = event.event_id
      yield event
    }
  }
}

// The longest event in characters. An event of the service has a few hundred.
const maxBufferSize = 1_000_000

/** The messages of a stream of Server-Sent Events. Throws a RangeError for one that is too long. @internal */
export async function* messagesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<EventSourceMessage, void> {
  const arrived: EventSourceMessage[] = []
  const parser = createParser({
    maxBufferSize,
    onEvent: (message) => void arrived.push(message),
    onError({ type, message }) {
      if (type === 'max-buffer-size-exceeded') throw new RangeError(message)
    },
  })
  const reader = stream.getReader()
  const decoder = new TextDecoder()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      parser.feed(decoder.decode(value, { stream: true }))
      yield* arrived.splice(0)
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

const types = new Set<string | undefined>([
  'document.created',
  'document.metadata.updated',
  'document.content.updated',
  'document.deleted',
  'sync.required',
  'auth.revoked',
] satisfies StreamEvent['type'][])

// A later version of the service may have further events.
function isKnown(type: string | undefined): type is StreamEvent['type'] {
  return types.has(type)
}

/** True for an error that a restart of the service, a proxy or the network may cause, and that waiting may heal. */
export function mayPass({ code, status }: KnowledgeBaseError): boolean {
  if (code === 'redirected') return false
  return status === undefined || status === 429 || status >= 500 || code === 'unexpected_answer'
}
