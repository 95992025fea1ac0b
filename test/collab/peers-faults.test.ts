import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import pg from 'pg'
import * as Y from 'yjs'
import { eventually, startNetwork, startRelay, textOf } from '../support/peers.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { runs, runsTimes } from '../support/runs.ts'
import type { Teardown } from '../support/site.ts'
import { t } from '../support/tap.ts'

const { url, drop } = await createTestDatabase()
t.teardown(drop)

const heartbeatMs = 100

t.test('a process that falls silent is given up, and found again when it can be heard', async (t) => {
  const { network, here, there } = await openAtTwo(t, 'doc_1')
  here.show('Ada')
  there.show('Bob')
  await eventually(() => here.users().length === 2 && there.users().length === 2)
  here.type('before ')
  await eventually(() => there.text() === 'before ')
  network.cut()
  here.type('in between ')
  await eventually(() => there.takeOvers === 1)
  t.strictSame(there.users(), ['Bob'], 'the cursors of the silent process vanish')
  t.equal(textOf(there.flush()), 'before ', 'the text that it has relayed is stored by the other process')
  t.strictSame(here.users(), ['Ada', 'Bob'], 'a process that hears nothing gives up nobody')
  network.heal()
  await eventually(() => there.text() === 'before in between ')
  here.show('Ada again')
  await eventually(() => there.users().length === 2)
  t.strictSame(there.users(), ['Ada again', 'Bob'])
  there.type('after')
  await eventually(() => here.text() === 'before in between after')
})

t.test('a session that the database has ended is opened again, and nothing typed is lost meanwhile', async (t) => {
  const [first, second] = [1, 2].map(() => startRelay(t, { url, heartbeatMs })) as [Relay, Relay]
  const here = first.open('doc_2')
  const there = second.open('doc_2')
  here.show('Ada')
  await eventually(() => there.users().length === 1)
  await endSessions()
  here.type('one ')
  there.type('two ')
  await eventually(() => here.text().length === 8 && here.text() === there.text())
  here.type('three')
  await eventually(() => there.text().endsWith('three'))
  here.show('Ada moved')
  await eventually(() => there.users()[0] === 'Ada moved')
})

t.test('a process that closed a document unheard is forgotten', async (t) => {
  const { network, relay, here, there } = await openAtTwo(t, 'doc_3')
  there.show('Bob')
  there.type('unstored')
  await eventually(() => here.users().length === 1 && here.text() === 'unstored')
  network.cut()
  there.relay.leave()
  network.heal()
  await eventually(() => here.takeOvers === 1)
  t.strictSame(here.users(), [])
  t.equal(await relay.metric('svc_collab_peers'), 0)
})

t.test('while the database is slow, text is merged, and only the newest cursor is sent', async (t) => {
  const { network, here, there } = await openAtTwo(t, 'doc_5', { heartbeatMs: 3_600_000 })
  here.show('Ada 0')
  await eventually(() => there.users().includes('Ada 0'))
  const cursors: string[][] = []
  there.awareness.on('update', () => cursors.push(there.users()))
  const release = network.hold()
  for (let count = 1; count <= 20; count += 1) {
    here.type('x'.repeat(100))
    here.show(`Ada ${count}`)
    await sleep(25)
  }
  release()
  await eventually(() => there.text().length === 2000 && there.users().includes('Ada 20'))
  // One statement was under way, and one has brought the rest. A greeting may have come in between.
  t.ok(there.received.length <= 5, `20 updates came as ${there.received.length}`)
  t.ok(cursors.length <= 5, `20 states came as ${cursors.length}`)
})

t.test('whichever sessions are lost and when, all processes have the same text and cursors in the end', async (t) => {
  const networks = await Promise.all([1, 2, 3].map(() => startNetwork(t, url)))
  const rooms = networks.map((network) => startRelay(t, { url: network.url, heartbeatMs }).open('doc_6'))
  const steps = fc.sample(
    fc.record({
      does: fc.constantFrom('type', 'type', 'type', 'show', 'cut', 'heal', 'heal', 'flush'),
      at: fc.nat(2),
      pauseMs: fc.constantFrom(0, 0, 0, 10, 40, 150),
    }),
    runsTimes(3 / 2),
  )
  const stored: Uint8Array[] = []
  for (const [count, { does, at, pauseMs }] of steps.entries()) {
    if (does === 'type') rooms[at]?.type(`${count} `)
    else if (does === 'show') rooms[at]?.show(`user ${at} ${count}`)
    else if (does === 'flush') stored.push(...(rooms[at]?.flush() ?? []))
    else networks[at]?.[does]()
    await sleep(pauseMs)
  }
  for (const network of networks) network.heal()
  // What was stored reaches everybody through the log of the database.
  for (const { doc } of rooms) for (const update of stored) Y.applyUpdate(doc, update, 'log')
  for (const [at, room] of rooms.entries()) room.show(`user ${at}`)
  const [first] = rooms
  const texts = () => new Set(rooms.map((room) => room.text()))
  await eventually(() => texts().size === 1 && rooms.every((room) => room.users().join() === 'user 0,user 1,user 2'))
  const typed = steps.flatMap(({ does }, count) => (does === 'type' ? [`${count}`] : []))
  t.strictSame(first?.text().trim().split(' ').sort(), typed.sort(), `seed ${runs.seed}`)
})

t.test('hostile notifications harm nobody', async (t) => {
  const relay = startRelay(t, { url, heartbeatMs: 3_600_000 })
  const room = relay.open('doc_4')
  const other = startRelay(t, { url, heartbeatMs: 3_600_000 })
  const there = other.open('doc_4')
  await eventually(async () => (await relay.metric('svc_collab_peers')) === 1)
  const frames = Buffer.from([4, 5, ...Buffer.from('doc_4'), 1, 0, 3, 255, 255, 255])
  const hostile = [
    'x',
    '0123456789abcdef 1 0/1 /w==',
    `0123456789abcdef 2 0/1 ${frames.toString('base64')}`,
    `0123456789abcdef 3 0/1 ${Buffer.from([1, 0, 255, 255, 255, 255, 15]).toString('base64')}`,
  ]
  await withClient(async (client) => {
    for (const payload of hostile) await client.query('SELECT pg_notify($1, $2)', ['svc_collab', payload])
  })
  await eventually(async () => (await relay.metric('svc_collab_relay_dropped_chunks_total')) >= hostile.length)
  t.strictSame(room.relay.forFlush().updates, [], 'an update that cannot be applied is not kept')
  there.type('still here')
  await eventually(() => room.text() === 'still here')
})

type Relay = ReturnType<typeof startRelay>

/** Opens a document at two processes. One of them, with the relay that is returned, is behind a network. */
async function openAtTwo(t: Teardown, documentId: string, settings = { heartbeatMs }) {
  const network = await startNetwork(t, url)
  const relay = startRelay(t, { url: network.url, ...settings })
  const here = relay.open(documentId)
  const there = startRelay(t, { url, ...settings }).open(documentId)
  return { network, relay, here, there }
}

async function endSessions(): Promise<void> {
  await withClient((client) =>
    client.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE application_name = 'svc-collab-peers' AND datname = current_database()`,
    ),
  )
}

async function withClient(work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  await work(client)
  await client.end()
}
