import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { EventSource } from 'eventsource'
import type { Test } from 'tap'
import { createApp } from '../../api/app.ts'
import { startService } from '../../api/start-service.ts'
import type { TestService } from './service.ts'
import { until } from './site.ts'

/** An event as a client gets it, with parsed `data`. */
export type Received = {
  id: string
  name: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into the data of every event
  data: any
}

/** A connected client of `GET /events`. */
export type OpenStream = {
  readonly received: readonly Received[]
  /** The statuses of answers that were no stream. After such an answer the client does not reconnect. */
  readonly refused: readonly number[]
  /** Waits until `count` events have arrived, and returns all events. */
  until: (count: number) => Promise<readonly Received[]>
  close: () => void
}

const names = [
  ...['document.created', 'document.metadata.updated', 'document.content.updated', 'document.deleted', 'sync.required'],
  ...['auth.revoked'],
]

/** Reads the events with the `eventsource` package, like a third party, until the test ends. */
export async function followEvents(
  t: Test,
  client: { origin: string; bearer: string | undefined },
  options: { query?: string; lastEventId?: number | string } = {},
): Promise<OpenStream> {
  const received: Received[] = []
  const refused: number[] = []
  const source = new EventSource(`${client.origin}/api/v1/events${options.query ?? ''}`, {
    fetch: (url, init) =>
      fetch(url, {
        ...init,
        headers: {
          ...(options.lastEventId !== undefined && { 'Last-Event-ID': String(options.lastEventId) }),
          ...init.headers,
          authorization: `Bearer ${client.bearer}`,
        },
      }),
  })
  for (const name of names) {
    source.addEventListener(name, ({ lastEventId, data }) =>
      received.push({ id: lastEventId, name, data: JSON.parse(data) }),
    )
  }
  source.addEventListener('error', ({ code }) => {
    if (code !== undefined) refused.push(code)
  })
  t.teardown(() => source.close())
  await until(async () => source.readyState === EventSource.OPEN || refused.length > 0)
  return {
    received,
    refused,
    async until(count) {
      await until(async () => received.length >= count)
      return received
    },
    close: () => source.close(),
  }
}

/** The text of a stream as it arrives. */
export type StreamText = {
  status: number
  headers: Headers
  /** Waits until the text matches, and returns the text. */
  until: (pattern: RegExp) => Promise<string>
  /** Resolves with the whole text when the service has closed the stream. */
  ended: Promise<string>
  close: () => void
}

/** Opens `GET /events` and reads its text until the test ends. */
export async function streamText(
  t: Test,
  client: { origin: string; bearer: string | undefined },
  headers: Record<string, string> = {},
): Promise<StreamText> {
  const leave = new AbortController()
  const response = await fetch(`${client.origin}/api/v1/events`, {
    headers: { authorization: `Bearer ${client.bearer}`, ...headers },
    signal: leave.signal,
  })
  let text = ''
  const ended = (async () => {
    const decoder = new TextDecoder()
    for await (const part of response.body ?? []) text += decoder.decode(part as Uint8Array, { stream: true })
    return text
  })()
  ended.catch(() => {})
  t.teardown(() => leave.abort())
  return {
    status: response.status,
    headers: response.headers,
    async until(pattern) {
      await until(async () => pattern.test(text))
      return text
    },
    ended,
    close: () => leave.abort(),
  }
}

/** Starts a second API on the database of the service, within this process, until the test ends. */
export async function startAnother(t: Test, { config, service: { log } }: TestService) {
  const service = await startService({ config, log, checkResponses: true })
  const server = createApp(service).listen(0)
  server.keepAliveTimeout = 0
  await once(server, 'listening')
  t.teardown(async () => {
    server.closeAllConnections()
    server.close()
    await service.close()
  })
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, service }
}
