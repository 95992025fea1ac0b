import fc from 'fast-check'
import { revokeToken } from '../../shared/auth/queries.ts'
import { type EventsOptions, KnowledgeBase, type StreamEvent } from '../../shared/client/client.ts'
import { messagesOf } from '../../shared/client/events.ts'
import { eventSequencer } from '../../workers/events.ts'
import { startFaultyProxy } from '../support/faulty-proxy.ts'
import { runsTimes } from '../support/runs.ts'
import { startTestService } from '../support/service.ts'
import { until } from '../support/site.ts'
import { t } from '../support/tap.ts'
import { startWorkers } from '../support/workers.ts'

const service = await startTestService(t, { SSE_HEARTBEAT_SECONDS: '1', SSE_MAX_STREAMS_PER_TOKEN: '100' })
const { origin, database, signUp } = service
await startWorkers(t, service, [eventSequencer])

/** A user with a knowledge base, whose client reaches the service through a faulty proxy. */
async function connect(t: Parameters<typeof startFaultyProxy>[0]) {
  const { token, token_id } = await signUp()
  const proxy = await startFaultyProxy(t, origin)
  const kb = new KnowledgeBase({ origin: proxy.origin, token, maxRetryDelay: 20 })
  const { data: base } = await kb.api.POST('/knowledge-bases', { body: { name: 'Zoo' } })
  const write = async (title: string) =>
    (await kb.api.POST('/documents', { body: { title, knowledge_base_id: base.id } })).data.id
  return { kb, proxy, token_id, write }
}

/** Collects events until the returned function stops it. */
async function follow(kb: KnowledgeBase, options: EventsOptions = {}) {
  const events: StreamEvent[] = []
  const control = new AbortController()
  let opened = 0
  let over = false
  const onOpen = () => {
    opened += 1
  }
  const ended = (async () => {
    for await (const event of kb.events({ ...options, onOpen, signal: control.signal })) events.push(event)
  })()
  const outcome = ended
    .then(
      () => 'ended',
      (error: unknown) => error,
    )
    .finally(() => {
      over = true
    })
  await until(async () => opened > 0 || over)
  const stop = () => {
    control.abort(new Error('stopped'))
    return outcome
  }
  return { events, outcome, stop }
}

t.test('a program misses no event and gets none twice, wherever its connections break', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat({ max: 3000 }), { maxLength: 8 }),
      fc.integer({ min: 1, max: 8 }),
      async (cuts, writes) => {
        const { kb, proxy, write } = await connect(t)
        proxy.choose = ({ path }) => {
          const bytes = path.startsWith('/api/v1/events') ? cuts.shift() : undefined
          return bytes === undefined ? null : { kind: 'cut-within', bytes: bytes + 1 }
        }
        const { events, stop } = await follow(kb)
        const written: string[] = []
        for (let index = 0; index < writes; index += 1) written.push(await write(String(index)))
        await until(async () => events.length >= writes)
        t.strictSame(
          events.map((event) => ('document_id' in event ? event.document_id : event.type)),
          written,
        )
        t.match(await stop(), { message: 'stopped' })
      },
    ),
    runsTimes(1 / 4),
  )
})

t.test('a program goes on behind the last event that it has kept', async (t) => {
  const { kb, write } = await connect(t)
  const first = await follow(kb)
  await write('one')
  await until(async () => first.events.length === 1)
  await first.stop()
  const missed = await write('two')
  const [event] = first.events
  const second = await follow(kb, { lastEventId: event?.type === 'document.created' ? event.event_id : 0 })
  await until(async () => second.events.length === 1)
  t.match(second.events, [{ type: 'document.created', document_id: missed, document: { title: 'two' } }])
  await second.stop()
})

t.test('a program learns that events are gone, and that its token has no right any more', async (t) => {
  const { kb, token_id, write } = await connect(t)
  const { events, outcome } = await follow(kb, { lastEventId: 999_999_999 })
  await until(async () => events.length === 1)
  const id = await write('one')
  await until(async () => events.length === 2)
  await revokeToken(database, token_id)
  t.equal(await outcome, 'ended')
  t.match(events, [
    { type: 'sync.required', resume_from: Number },
    { type: 'document.created', document_id: id },
    { type: 'auth.revoked', reason: 'revoked' },
  ])
  const refused = await follow(kb)
  t.match(await refused.outcome, { code: 'token_revoked', status: 401 })
})

t.test('a connection without a sign of life is replaced', async (t) => {
  const { kb, proxy, write } = await connect(t)
  let streams = 0
  proxy.choose = ({ path }) => {
    if (!path.startsWith('/api/v1/events')) return null
    streams += 1
    return streams === 1 ? { kind: 'silence', bytes: 300 } : null
  }
  const { events, stop } = await follow(kb, { heartbeatTimeout: 3000 })
  const written = [await write('one'), await write('two')]
  await until(async () => events.length === 2)
  t.strictSame(
    events.map((event) => 'document_id' in event && event.document_id),
    written,
  )
  t.equal(streams, 2)
  await stop()
})

t.test('events are read wherever the bytes are cut, with every line end', async (t) => {
  const text =
    'retry: 5000\n: hb\n\nid: 7\nevent: größe\ndata: {"a":\ndata:"é"}\n\nevent: empty\n\ndata: last\n\ndata: lost\n'
  const expected = [
    { id: '7', event: 'größe', data: '{"a":\n"é"}' },
    { id: undefined, event: undefined, data: 'last' },
  ]
  const ends = fc.constantFrom('\n', '\r', '\r\n')
  await fc.assert(
    fc.asyncProperty(ends, fc.array(fc.integer({ min: 1, max: 20 })), async (end, sizes) => {
      const bytes = new TextEncoder().encode(text.replaceAll('\n', end))
      const chunks: Uint8Array[] = []
      for (let at = 0; at < bytes.length; ) {
        const size = sizes.shift() ?? bytes.length
        chunks.push(bytes.subarray(at, at + size))
        at += size
      }
      t.strictSame(await Array.fromAsync(messagesOf(ReadableStream.from(chunks))), expected)
    }),
  )
})
