import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import pg from 'pg'
import { revokeToken } from '../../shared/auth/queries.ts'
import { sql } from '../../shared/database/database.ts'
import { purgeEvents } from '../../shared/events/purge.ts'
import { logExtent } from '../../shared/events/queries.ts'
import { eventSequencer } from '../../workers/events.ts'
import { workersOf } from '../../workers/types.ts'
import type { Client } from '../support/client.ts'
import { followEvents, startAnother, streamText } from '../support/event-streams.ts'
import { startApi } from '../support/processes.ts'
import { searchV2 } from '../support/search.ts'
import { startTestService } from '../support/service.ts'
import { until } from '../support/site.ts'
import { type Test, t } from '../support/tap.ts'
import { startWorkers, untilFresh, write } from '../support/workers.ts'

const service = await startTestService(t, { SSE_HEARTBEAT_SECONDS: '1' })
const { database } = service
await startWorkers(t, service, [eventSequencer])

t.test('a token has three streams at a time, over all processes', async (t) => {
  const ada = await service.signUp()
  const { origin } = await startAnother(t, service)
  const elsewhere = { origin, bearer: ada.token }
  const open = [await streamText(t, ada), await streamText(t, elsewhere), await streamText(t, elsewhere)]
  for (const client of [ada, elsewhere]) {
    const refused = await fetch(`${client.origin}/api/v1/events`, { headers: { authorization: `Bearer ${ada.token}` } })
    t.equal(refused.status, 429)
    t.match(refused.headers.get('retry-after'), /^[1-9][0-9]*$/)
    t.match(await refused.json(), {
      error: { type: 'rate_limit_error', code: 'too_many_streams', details: { limit: 3 } },
    })
  }
  const other = await service.signUp()
  t.equal((await streamText(t, other)).status, 200, 'another token has its own')
  open[1]?.close()
  await until(async () => (await streamText(t, ada)).status === 200)
  await expire(ada.token_id)
  t.equal((await streamText(t, elsewhere)).status, 200, 'those of a process that died do not count for long')
})

t.test('streams that are opened at once are granted up to the limit and no more', async (t) => {
  const ada = await service.signUp()
  const { origin } = await startAnother(t, service)
  const openings = Array.from({ length: 12 }, (_, index) =>
    streamText(t, { origin: index % 2 === 0 ? origin : service.origin, bearer: ada.token }),
  )
  const statuses = (await Promise.all(openings)).map(({ status }) => status)
  t.equal(statuses.filter((status) => status === 200).length, 3)
  t.equal(statuses.filter((status) => status === 429).length, 9)
})

t.test('an open stream keeps its place for as long as it lasts', async (t) => {
  const ada = await service.signUp()
  const stream = await streamText(t, ada)
  const [before] = await expiries(ada.token_id)
  await until(async () => Number((await expiries(ada.token_id))[0]) > Number(before))
  stream.close()
  await until(async () => (await expiries(ada.token_id)).length === 0)
  t.pass('it is renewed, and given back at the end')
})

t.test('a token that is revoked or expires ends its streams with the reason, and others go on', async (t) => {
  const [revoked, expiring, ada] = [await service.signUp(), await service.signUp(), await service.signUp()]
  const streams = [await streamText(t, revoked), await streamText(t, expiring)]
  const untouched = await followEvents(t, ada)
  const client = await followEvents(t, revoked)
  await revokeToken(database, revoked.token_id)
  await database.query(sql.unsafe`UPDATE tokens SET expires_at = now() WHERE id = ${expiring.token_id}`)
  for (const [index, reason] of ['revoked', 'expired'].entries()) {
    const text = (await streams[index]?.ended) ?? ''
    const [, data = ''] = /\n\nevent: auth\.revoked\ndata: ([^\n]*)\n\n$/.exec(text) ?? []
    t.match(JSON.parse(data), { reason, created_at: Number })
    t.strictSame(Object.keys(JSON.parse(data)), ['reason', 'created_at'])
  }
  await client.until(1)
  t.match(client.received, [{ name: 'auth.revoked', data: { reason: 'revoked' } }])
  await write(ada, 'x')
  await untouched.until(1)
  await until(async () => (await expiries(revoked.token_id)).length === 0)
})

t.test('a client that reads nothing is cut, and misses nothing when it comes back', async (t) => {
  const ada = await service.signUp()
  const { socket, bytes } = await openSocket(t, ada)
  // The kernel buffers some data of a connection. Once the buffer is full, the service cuts the stream, although the
  // client never answers.
  let count = 0
  while ((await expiries(ada.token_id)).length > 0) {
    await flood(ada.workspace_id, { from: count + 1, to: count + 3000 })
    count += 3000
    await until(async () => (await unnumbered()) === 0)
  }
  socket.resume()
  await once(socket, 'close')
  const first = idsOf(Buffer.concat(bytes).toString())
  t.ok(first.length < count, 'it was cut before the end')
  const resumed = await streamText(t, ada, { 'last-event-id': String(first.at(-1)) })
  const rest = idsOf(await resumed.until(new RegExp(`"doc_${count}"[^\\n]*\\n\\n`)))
  const all = [...first, ...rest]
  t.equal(all.length, count)
  t.ok(all.every((id, index) => index === 0 || id > Number(all[index - 1])))
})

t.test('a process that is asked to stop ends its streams first, and so ends soon', async (t) => {
  const ada = await service.signUp()
  const { DATABASE_URL, DATA_DIR } = service.config
  const api = await startApi({ DATABASE_URL, DATA_DIR })
  t.teardown(api.stop)
  const stream = await streamText(t, { origin: api.origin, bearer: ada.token })
  await stream.until(/connected/)
  api.signal('SIGTERM')
  t.match(await stream.ended, 'connected', 'the client is told by the end of the stream, not by a broken connection')
  t.equal(await api.ended, 0)
  t.strictSame(await expiries(ada.token_id), [], 'and can open it elsewhere at once')
})

t.test('no stream takes a connection of the database', async (t) => {
  const ada = await service.signUp()
  const connections = async () =>
    Number(
      await database.oneFirst(sql.unsafe`
        SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'svc-listen'`),
    )
  await streamText(t, ada)
  const before = await connections()
  for (let index = 0; index < 2; index += 1) await streamText(t, ada)
  t.equal(await connections(), before, 'one listens for all of them')
})

t.test('streams go on when the connection that listens is lost', async (t) => {
  const ada = await service.signUp()
  const stream = await followEvents(t, ada)
  await write(ada, 'before')
  await stream.until(1)
  await database.query(sql.unsafe`
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'svc-listen'`)
  await write(ada, 'after')
  await stream.until(2)
  t.strictSame(
    stream.received.map(({ name }) => name),
    ['document.created', 'document.created'],
  )
})

t.test('purging events takes back neither the watermark of a search nor what it says of a lagging index', async (t) => {
  const ada = await service.signUp()
  const indexer = await startWorkers(t, service, workersOf(['search']))
  await write(ada, 'elephant')
  await untilFresh(ada)
  await indexer.stop()
  const lagging = await write(ada, 'giraffe')
  await until(async () => (await unnumbered()) === 0)
  const before = (await searchV2(ada, { q: 'giraffe' })).projection
  await purgeAll()
  t.strictSame((await searchV2(ada, { q: 'giraffe' })).projection, before, 'what lags is known, and since when')
  t.strictSame(before.stale_document_ids, [lagging.id])
  await startWorkers(t, service, workersOf(['search']))
  await untilFresh(ada)
  const after = (await searchV2(ada, { q: 'giraffe' })).projection
  t.ok(numberOf(after.watermark) > numberOf(before.watermark))
  await purgeAll()
  t.equal((await logExtent(database)).oldest, null)
  t.strictSame((await searchV2(ada, { q: 'giraffe' })).projection, after, 'an empty log takes nothing back')
})

function numberOf(watermark: string): number {
  return Number(watermark.replace('w1-', ''))
}

async function purgeAll(): Promise<void> {
  await database.query(sql.unsafe`UPDATE events SET created_at = now() - interval '8 days'`)
  while ((await purgeEvents(database, { days: 7, batch: 10_000 })) === 10_000);
}

async function unnumbered(): Promise<number> {
  return Number(await database.oneFirst(sql.unsafe`SELECT count(*) FROM events WHERE event_id IS NULL`))
}

function expiries(tokenId: string) {
  return database.anyFirst(sql.unsafe`
    SELECT expires_at FROM event_stream_leases WHERE token_id = ${tokenId} ORDER BY stream_id`)
}

async function expire(tokenId: string): Promise<void> {
  await database.query(sql.unsafe`UPDATE event_stream_leases SET expires_at = now() WHERE token_id = ${tokenId}`)
}

/** A client that sends its request, reads the first bytes, and then nothing more until it is resumed. */
async function openSocket(t: Test, client: Client): Promise<{ socket: Socket; bytes: Buffer[] }> {
  const { hostname, port, host } = new URL(client.origin)
  const socket = connect(Number(port), hostname)
  t.teardown(() => socket.destroy())
  const bytes: Buffer[] = []
  socket.on('data', (part) => bytes.push(part))
  socket.on('error', () => {})
  socket.write(`GET /api/v1/events HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${client.bearer}\r\n\r\n`)
  await until(async () => Buffer.concat(bytes).includes('connected'))
  socket.pause()
  return { socket, bytes }
}

/** Writes events of some two kilobytes each. */
async function flood(workspaceId: string, { from, to }: { from: number; to: number }): Promise<void> {
  const client = new pg.Client(service.url)
  await client.connect()
  await client.query(
    `INSERT INTO events (workspace_id, name, document_id, document)
     SELECT $1, 'document.content.updated', 'doc_' || n,
       jsonb_build_object('id', 'doc_' || n, 'title', repeat('\u00e9', 1000)) FROM generate_series($2::int, $3::int) n`,
    [workspaceId, from, to],
  )
  await client.query('NOTIFY svc_events_unnumbered')
  await client.end()
}

// The ids of the whole events in a raw response. The sizes of chunks stand between events, never within an event.
function idsOf(text: string): number[] {
  return [...text.matchAll(/^id: (\d+)\nevent: [^\n]*\ndata: [^\n]*\n\n/gm)].map(([, id]) => Number(id))
}
