import pg from 'pg'
import { inTransaction, sql } from '../../shared/database/database.ts'
import { purgeEvents } from '../../shared/events/purge.ts'
import { type EventDocument, recordEvents } from '../../shared/events/record.ts'
import { eventSequencer } from '../../workers/events.ts'
import type { Client } from '../support/client.ts'
import { followEvents, type Received, startAnother, streamText } from '../support/event-streams.ts'
import { startTestService } from '../support/service.ts'
import { until } from '../support/site.ts'
import { type Test, t } from '../support/tap.ts'
import { startWorkers, write } from '../support/workers.ts'

const service = await startTestService(t, { SSE_HEARTBEAT_SECONDS: '1', SSE_MAX_STREAMS_PER_TOKEN: '100' })
const { database } = service
await startWorkers(t, service, [eventSequencer])

t.test('the stream has the form that is promised, byte by byte', async (t) => {
  const ada = await service.signUp()
  const stream = await streamText(t, ada)
  t.equal(stream.status, 200)
  t.match(stream.headers.get('content-type'), /^text\/event-stream\b/)
  t.equal(stream.headers.get('cache-control'), 'private, no-cache')
  t.equal(stream.headers.get('x-accel-buffering'), 'no')
  t.ok(stream.headers.get('x-request-id'))
  await stream.until(/^retry: 5000\n: connected\n\n/)
  const made = await write(ada, 'text', { title: 'Line\u2028separator "quoted" \u00e9' })
  const text = await stream.until(/\ndata: [^\n]+\n\n/)
  const [, id = '', data = ''] =
    /^retry: 5000\n: connected\n\n(?:: hb\n\n)*id: (\d+)\nevent: document\.created\ndata: ([^\n]*)\n\n/.exec(text) ?? []
  const event = JSON.parse(data)
  t.strictSame(Object.keys(event), ['event_id', 'workspace_id', 'document_id', 'created_at', 'document'])
  t.strictSame(
    { ...event, created_at: 0 },
    {
      event_id: Number(id),
      workspace_id: ada.workspace_id,
      document_id: made.id,
      created_at: 0,
      document: {
        id: made.id,
        title: made.title,
        document_type: 'document',
        knowledge_base_id: made.knowledge_base_id,
        folder_id: null,
        document_set_id: null,
        locale: null,
        variant_role: null,
        version: made.version,
        updated_at: made.updated_at,
      },
    },
  )
  t.ok(Math.abs(event.created_at - Date.now()) < 3_600_000, 'in milliseconds')
  await stream.until(/: hb\n\n(?:.|\n)*: hb\n\n/)
})

t.test('a client sees every change of a document once, in order, with the state after it', async (t) => {
  const ada = await service.signUp()
  const stream = await followEvents(t, ada)
  const { id } = await write(ada, 'one')
  const body = { format: 'markdown', content: 'two' }
  const written = await ada.put(`/documents/${id}/content`, body, { 'if-match': '*' })
  await ada.put(
    `/documents/${id}/content`,
    { format: 'tiptap-json', document: written.body.data.document },
    { 'if-match': '*' },
  )
  await ada.patch(`/documents/${id}`, { title: 'Renamed' })
  await ada.patch(`/documents/${id}`, { title: 'Renamed' })
  await ada.delete(`/documents/${id}`)
  const other = await write(ada, 'the end')
  const events = await stream.until(5)
  t.strictSame(shown(events), [
    ['document.created', id, 'Untitled'],
    ['document.content.updated', id, 'Untitled'],
    ['document.metadata.updated', id, 'Renamed'],
    ['document.deleted', id, 'Renamed'],
    ['document.created', other.id, 'Untitled'],
  ])
  t.equal(events[1]?.data.document.version, written.body.data.version)
  t.ok(ascending(events))
})

t.test('a first connection gets nothing that happened before, not even what is numbered only now', async (t) => {
  const ada = await service.signUp()
  const hold = await holdNumbering(t)
  const before = await write(ada, 'before')
  const stream = await followEvents(t, ada)
  const after = await write(ada, 'after')
  await hold.release()
  await stream.until(1)
  const last = await write(ada, 'last')
  await stream.until(2)
  t.strictSame(
    stream.received.map(({ data }) => data.document_id),
    [after.id, last.id],
  )
  const all = await followEvents(t, ada, { lastEventId: Number(stream.received[0]?.id) - 2 })
  t.ok(
    (await all.until(2)).some(({ data }) => data.document_id === before.id),
    'which a cursor before it still reads',
  )
})

t.test('a write that commits late is never skipped, however many were delivered before it', async (t) => {
  const ada = await service.signUp()
  const stream = await followEvents(t, ada)
  const late = new pg.Client(service.url)
  await late.connect()
  t.teardown(() => late.end())
  await late.query('BEGIN')
  await late.query(
    `INSERT INTO events (workspace_id, name, document_id, document) VALUES ($1, 'document.created', 'doc_late', '{}')`,
    [ada.workspace_id],
  )
  for (const text of ['one', 'two', 'three']) await write(ada, text)
  await stream.until(3)
  await late.query(`COMMIT`)
  await late.query(`NOTIFY svc_events_unnumbered`)
  await stream.until(4)
  t.equal(stream.received[3]?.data.document_id, 'doc_late')
  t.ok(ascending(stream.received))
})

t.test('whoever comes back resumes after what was processed last and misses nothing', async (t) => {
  const ada = await service.signUp()
  const first = await followEvents(t, ada)
  const ids = await writeMany(ada, 3)
  await first.until(3)
  first.close()
  const many = Array.from({ length: 500 }, (_, index) => ({ id: `doc_${index}`, document_set_id: null, locale: null }))
  await record(ada.workspace_id, many)
  ids.push(...many.map(({ id }) => id))
  const second = await followEvents(t, ada, { lastEventId: first.received[1]?.id ?? '' })
  ids.push(...(await writeMany(ada, 2)))
  await second.until(503)
  t.strictSame(
    [...first.received.slice(0, 2), ...second.received].map(({ data }) => data.document_id),
    ids,
  )
  t.ok(ascending([...first.received.slice(0, 2), ...second.received]))

  // A process that has just started has no events in memory.
  const { origin } = await startAnother(t, service)
  const replayed = await followEvents(t, { origin, bearer: ada.token }, { lastEventId: 0 })
  await replayed.until(505)
  t.strictSame(
    replayed.received.map(({ data }) => data.document_id),
    ids,
    '0 replays everything retained',
  )
  ids.push((await write(ada, 'live')).id)
  await replayed.until(506)
  t.strictSame(
    replayed.received.map(({ data }) => data.document_id),
    ids,
    'and goes on live',
  )
})

t.test('a client that loses its connection comes back by itself where it was', async (t) => {
  const ada = await service.signUp()
  const stream = await streamText(t, ada)
  await stream.until(/connected/)
  const [one] = await writeMany(ada, 1)
  const id = /id: (\d+)/.exec(await stream.until(/\ndata: [^\n]+\n\n/))?.[1] ?? ''
  stream.close()
  const [two] = await writeMany(ada, 1)
  const again = await streamText(t, ada, { 'last-event-id': id })
  const text = await again.until(/\ndata: [^\n]+\n\n/)
  t.match(text, `"document_id":"${two}"`)
  t.notMatch(text, one)
})

t.test('filters narrow the stream, and deletions pass them too', async (t) => {
  const ada = await service.signUp()
  const open = (query: string) => followEvents(t, ada, { query })
  const [set, locale, both, unknown, all] = [
    await open('?document_set_id=docset_1'),
    await open('?locale=de-at'),
    await open('?document_set_id=docset_1&locale=de-AT'),
    await open('?document_set_id=docset_unknown'),
    await open(''),
  ]
  await record(ada.workspace_id, [
    { id: 'doc_1', document_set_id: 'docset_1', locale: 'de-AT' },
    { id: 'doc_2', document_set_id: 'docset_1', locale: 'en' },
    { id: 'doc_3', document_set_id: 'docset_2', locale: 'de-AT' },
    { id: 'doc_4', document_set_id: null, locale: null },
  ])
  await record(ada.workspace_id, [{ id: 'doc_1', document_set_id: 'docset_1', locale: 'de-AT' }], 'document.deleted')
  await all.until(5)
  await set.until(3)
  await locale.until(3)
  await both.until(2)
  const idsOf = (events: readonly Received[]) => events.map(({ data }) => data.document_id)
  t.strictSame(idsOf(set.received), ['doc_1', 'doc_2', 'doc_1'])
  t.strictSame(idsOf(locale.received), ['doc_1', 'doc_3', 'doc_1'])
  t.strictSame(idsOf(both.received), ['doc_1', 'doc_1'])
  t.strictSame(unknown.received, [])
  const resumed = await followEvents(t, ada, { query: '?locale=en', lastEventId: 0 })
  t.strictSame(idsOf(await resumed.until(1)), ['doc_2'], 'what is caught up with as well')
})

t.test('nobody gets an event of a workspace that is not theirs, and memberships count as they are now', async (t) => {
  const ada = await service.signUp({ workspace: 'team', email: 'ada@example.test' })
  const bob = await service.signUp({ workspace: 'team', email: 'bob@example.test', role: 'viewer' })
  const stranger = await service.signUp()
  const [bobs, strangers] = [await followEvents(t, bob), await followEvents(t, stranger)]
  await writeMany(ada, 1)
  await bobs.until(1)
  await database.query(sql.unsafe`
    DELETE FROM memberships WHERE user_id = ${bob.user_id} AND workspace_id = ${ada.workspace_id}`)
  // Once the service has checked the rights without the membership, events of later writes never arrive.
  const other = await service.signUp({ email: 'bob@example.test', workspace: 'elsewhere' })
  await until(async () => {
    await write(other, 'marker')
    return bobs.received.some(({ data }) => data.workspace_id === other.workspace_id)
  })
  const seen = bobs.received.length
  await writeMany(ada, 1)
  await write(other, 'marker')
  await bobs.until(seen + 1)
  t.notOk(bobs.received.slice(seen).some(({ data }) => data.workspace_id === ada.workspace_id))
  t.strictSame(strangers.received, [])
})

t.test('a cursor that is no longer retained is told from where the stream goes on', async (t) => {
  const ada = await service.signUp()
  const earlier = await followEvents(t, ada)
  await writeMany(ada, 4)
  const ids = (await earlier.until(4)).map(({ id }) => Number(id))
  const [first = 0, second = 0, third = 0, fourth = 0] = ids
  await age(second)
  const foreign = await followEvents(t, ada, { lastEventId: fourth + 1_000_000 })
  const huge = await followEvents(t, ada, { lastEventId: '9'.repeat(40) })
  for (const stream of [foreign, huge]) {
    const [sync] = await stream.until(1)
    t.match(sync, { name: 'sync.required', data: { workspace_id: null, document_id: null } })
    t.equal(sync?.data.resume_from, Number(sync?.id))
    t.equal(sync?.data.event_id, Number(sync?.id))
    t.ok(sync?.data.resume_from >= fourth, 'the newest')
  }
  for (const lastEventId of [0, first]) {
    const stream = await followEvents(t, ada, { lastEventId })
    await stream.until(3)
    t.strictSame(
      stream.received.map(({ name, id }) => [name, Number(id)]),
      [
        ['sync.required', third - 1],
        ['document.created', third],
        ['document.created', fourth],
      ],
    )
  }
  const exact = await followEvents(t, ada, { lastEventId: second })
  await exact.until(2)
  t.equal(exact.received[0]?.name, 'document.created', 'nothing is missing after the newest purged one')

  const newest = await database.oneFirst(sql.unsafe`SELECT max(event_id) FROM events`)
  await age(Number(newest))
  const emptied = await followEvents(t, ada, { lastEventId: third })
  t.match(await emptied.until(1), [{ name: 'sync.required', id: String(newest), data: { resume_from: newest } }])
  const upToDate = await followEvents(t, ada, { lastEventId: Number(newest) })
  await write(ada, 'next')
  t.match(await upToDate.until(1), [{ name: 'document.created' }])
})

t.test('a malformed cursor or locale is refused, and so is HEAD', async (t) => {
  const ada = await service.signUp()
  for (const cursor of ['x', '-1', '1.5', '', ' ', '1e3', '0x10', '1, 2']) {
    const reply = await ada.get('/events', { 'last-event-id': cursor })
    t.match(reply, { status: 400, body: { error: { code: 'invalid_last_event_id' } } }, cursor)
  }
  for (const locale of ['x', '', 'de_', '1']) {
    t.match(await ada.get(`/events?locale=${locale}`), { status: 400, body: { error: { code: 'invalid_locale' } } })
  }
  const head = await ada.call('HEAD', '/events')
  t.equal(head.status, 405)
  t.equal(head.headers.get('allow'), 'GET, OPTIONS')
  await until(async () => (await leases()).length === 0)
  t.pass('and takes no stream from the token')
})

function shown(events: readonly Received[]) {
  return events.map(({ name, data }) => [name, data.document_id, data.document.title])
}

function ascending(events: readonly Received[]): boolean {
  return events.every(({ id }, index) => index === 0 || Number(events[index - 1]?.id) < Number(id))
}

async function writeMany(client: Client, count: number): Promise<string[]> {
  const ids: string[] = []
  for (let number = 0; number < count; number += 1) ids.push((await write(client, 'x')).id)
  return ids
}

function record(
  workspaceId: string,
  documents: Pick<EventDocument, 'id' | 'document_set_id' | 'locale'>[],
  name: 'document.content.updated' | 'document.deleted' = 'document.content.updated',
) {
  const rest = { title: '', document_type: 'document', knowledge_base_id: 1, folder_id: null, variant_role: null }
  const whole = documents.map((document) => ({ ...rest, version: '', updated_at: 0, ...document }))
  return inTransaction(database, (tx) => recordEvents(tx, { workspaceId, name, documents: whole }))
}

/** Keeps committed events from getting their ids until it is released. */
async function holdNumbering(t: Test) {
  const client = new pg.Client(service.url)
  await client.connect()
  t.teardown(() => client.end())
  await client.query(`SELECT pg_advisory_lock(hashtextextended('svc_event_ids', 0))`)
  return { release: () => client.query(`SELECT pg_advisory_unlock(hashtextextended('svc_event_ids', 0))`) }
}

/** Makes the events up to an id older than they may be, and sweeps. */
async function age(eventId: number): Promise<void> {
  await database.query(sql.unsafe`
    UPDATE events SET created_at = now() - interval '8 days' WHERE event_id <= ${eventId}`)
  while ((await purgeEvents(database, { days: 7, batch: 50 })) === 50);
}

function leases() {
  return database.any(sql.unsafe`SELECT token_id FROM event_stream_leases WHERE expires_at > now()`)
}
