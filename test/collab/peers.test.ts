import { setTimeout as sleep } from 'node:timers/promises'
import * as Y from 'yjs'
import { startCountingProxy } from '../support/counting-proxy.ts'
import { eventually, startRelay, textOf } from '../support/peers.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { t } from '../support/tap.ts'

const { url, drop } = await createTestDatabase()
t.teardown(drop)

// No heartbeat comes in between, so that the tests can count messages.
const heartbeatMs = 3_600_000

t.test('a keystroke reaches the other processes that hold the document, and no others', async (t) => {
  const [first, second, third] = [1, 2, 3].map(() => startRelay(t, { url, heartbeatMs })) as [Relay, Relay, Relay]
  const here = first.open('doc_1')
  const there = second.open('doc_1')
  const elsewhere = third.open('doc_2')
  await eventually(async () => (await first.metric('svc_collab_peers')) === 1)
  await eventually(async () => (await second.metric('svc_collab_peers')) === 1)
  await settled(third)
  const before = await third.metric('svc_collab_relayed_messages_total', { direction: 'received' })
  here.type('Hello ')
  await eventually(() => there.text() === 'Hello ')
  there.type('World')
  await eventually(() => here.text() === 'Hello World')
  t.equal(elsewhere.text(), '')
  t.equal(await third.metric('svc_collab_peers'), 0)
  t.equal(await third.metric('svc_collab_relayed_messages_total', { direction: 'received' }), before)
  t.ok((await first.metric('svc_collab_relayed_bytes_total', { direction: 'sent' })) > 0)
  t.equal(here.received.length, 1, 'what was relayed does not come back')
})

t.test(
  'a process that opens a document later gets what is typed there and not stored yet, and the cursors',
  async (t) => {
    const first = startRelay(t, { url, heartbeatMs })
    const here = first.open('doc_3')
    here.type('early')
    here.show('Ada')
    const second = startRelay(t, { url, heartbeatMs })
    const there = second.open('doc_3')
    there.type('!')
    there.show('Bob')
    await eventually(() => there.text().length === 6 && here.text().length === 6)
    t.equal(there.text(), here.text())
    await eventually(() => there.users().length === 2 && here.users().length === 2)
    t.strictSame(there.users(), ['Ada', 'Bob'])
    there.relay.leave()
    await eventually(() => here.users().length === 1)
    t.strictSame(here.users(), ['Ada'], 'the cursors of a process vanish when it closes the document')
  },
)

t.test('cursors move, are renewed and vanish at other processes, and are not sent back', async (t) => {
  const [first, second] = [1, 2].map(() => startRelay(t, { url, heartbeatMs })) as [Relay, Relay]
  const here = first.open('doc_4')
  const there = second.open('doc_4')
  await eventually(
    async () => (await first.metric('svc_collab_peers')) + (await second.metric('svc_collab_peers')) === 2,
  )
  await settled(second)
  const before = await second.metric('svc_collab_relayed_messages_total', { direction: 'sent' })
  here.show('Ada')
  await eventually(() => there.users().includes('Ada'))
  const client = here.doc.clientID
  const clock = there.awareness.meta.get(client)?.clock ?? 0
  here.show('Ada')
  await eventually(() => (there.awareness.meta.get(client)?.clock ?? 0) > clock)
  t.pass('an unchanged state is renewed, so that it does not count as outdated')
  here.show(null)
  await eventually(() => there.users().length === 0)
  t.equal(await second.metric('svc_collab_relayed_messages_total', { direction: 'sent' }), before)
})

t.test('relayed text is kept until its process has stored it', async (t) => {
  const [first, second] = [1, 2].map(() => startRelay(t, { url, heartbeatMs })) as [Relay, Relay]
  const here = first.open('doc_5')
  const there = second.open('doc_5')
  await eventually(async () => (await first.metric('svc_collab_peers')) === 1)
  here.type('one ')
  here.type('two ')
  await eventually(() => there.text() === 'one two ')
  const unstored = there.relay.forFlush()
  t.equal(unstored.typist, 'user_ada')
  t.equal(textOf(unstored.updates), 'one two ', 'a flush of the other process stores it, too')
  here.flush()
  await eventually(() => there.relay.forFlush().updates.length === 0)
  here.type('three')
  await eventually(() => there.text() === 'one two three')
  there.flush()
  t.strictSame(there.relay.forFlush().updates, [], 'what a process has stored itself, it need not store again')
  t.equal(there.takeOvers, 0)
})

t.test('a process that closes a document unstored leaves its text to the other process', async (t) => {
  const [first, second] = [1, 2].map(() => startRelay(t, { url, heartbeatMs })) as [Relay, Relay]
  const here = first.open('doc_6')
  const there = second.open('doc_6')
  await eventually(async () => (await first.metric('svc_collab_peers')) === 1)
  here.type('last words')
  here.relay.leave()
  await eventually(() => there.takeOvers === 1)
  t.equal(there.text(), 'last words')
  const left = there.relay.forFlush().updates
  t.ok(left.length > 0)
  const again = first.open('doc_6')
  await eventually(async () => (await first.metric('svc_collab_peers')) === 1)
  again.type('more')
  await eventually(() => there.text().includes('more'))
  again.flush()
  await eventually(() => there.relay.forFlush().updates.length === left.length)
  t.strictSame(there.relay.forFlush().updates, left)
  t.pass('the numbers of the document that was opened again say nothing about the text before')
})

t.test('a process that is alone sends no statement when people type and move', async (t) => {
  const proxy = await startCountingProxy(t, url)
  const alone = startRelay(t, { url: proxy.url, heartbeatMs })
  const here = alone.open('doc_7')
  await eventually(async () => (await alone.metric('svc_collab_relayed_messages_total', { direction: 'sent' })) > 0)
  await settled(alone)
  const { statements } = await proxy.count(async () => {
    for (let count = 0; count < 100; count += 1) {
      here.type('x')
      here.show(`Ada ${count}`)
    }
    here.flush()
    await sleep(200)
  })
  t.strictSame(statements, [])
})

t.test('what is typed quickly travels together, in one statement for all documents', async (t) => {
  const proxy = await startCountingProxy(t, url)
  const first = startRelay(t, { url: proxy.url, heartbeatMs })
  const second = startRelay(t, { url, heartbeatMs })
  const ids = Array.from({ length: 20 }, (_, index) => `doc_many_${index}`)
  const here = ids.map((id) => first.open(id))
  const there = ids.map((id) => second.open(id))
  for (const [index, room] of here.entries()) {
    room.type('.')
    await eventually(() => there[index]?.text() === '.')
  }
  await settled(first)
  const { statements } = await proxy.count(async () => {
    for (let count = 0; count < 50; count += 1) for (const room of here) room.type('x')
    await eventually(() => there.every((room) => room.text().length === 51))
  })
  t.ok(statements.length <= 2, `1000 keystrokes in 20 documents took ${statements.length} statements`)
  t.ok(there.every(({ received }) => received.length <= 4))
})

t.test('a paste of a megabyte arrives, and one that is too large does not hold up what follows', async (t) => {
  const [first, second] = [1, 2].map(() => startRelay(t, { url, heartbeatMs })) as [Relay, Relay]
  const here = first.open('doc_8')
  const there = second.open('doc_8')
  await eventually(async () => (await first.metric('svc_collab_peers')) === 1)
  const pasted = 'abcdefghij'.repeat(100_000)
  here.type(pasted)
  await eventually(() => there.text().length === pasted.length)
  t.equal(there.text(), pasted)
  here.doc.getText('huge').insert(0, 'x'.repeat(6_000_000))
  await sleep(100)
  here.doc.getMap('m').set('after', 1)
  await settled(first)
  t.equal(there.doc.getText('huge').length, 0, 'it comes through the log')
  for (const update of here.flush()) Y.applyUpdate(there.doc, update, 'log')
  t.same(there.doc.getMap('m').toJSON(), { after: 1 })
  t.equal(await second.metric('svc_collab_relay_dropped_chunks_total'), 0)
})

type Relay = ReturnType<typeof startRelay>

// Waits until the relay has sent and received nothing for 150 ms.
async function settled({ metric }: Relay): Promise<void> {
  const count = () => metric('svc_collab_relayed_messages_total')
  for (let before = -1; before !== (await count()); ) {
    before = await count()
    await sleep(150)
  }
}
