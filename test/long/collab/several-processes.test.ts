import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { BlockNode } from '../../../shared/body/document.ts'
import { bodyFragment, writeNode } from '../../../shared/body/yjs/encoding.ts'
import { p } from '../../document/build.ts'
import { type CollabProcess, Person, startCollab } from '../../support/collab.ts'
import { bodyOf, make, put } from '../../support/documents.ts'
import { eventually, startNetwork } from '../../support/peers.ts'
import { startTestService } from '../../support/service.ts'
import type { Teardown } from '../../support/site.ts'
import { t } from '../../support/tap.ts'

const service = await startTestService(t)
const ada = await service.signUp()

// Nothing is stored while a test looks at what travels between processes.
const patient = { COLLAB_DEBOUNCE_MS: '60000', COLLAB_MAX_DEBOUNCE_MS: '60000' }

t.test(
  'text and cursors reach the editors at another process before they are stored, and outlive their process',
  async (t) => {
    const [first, second] = (await Promise.all([start(t, patient), start(t, patient)])) as [
      CollabProcess,
      CollabProcess,
    ]
    const { id } = await make(ada, [p('one'), p('two')])
    const [here, there] = await Promise.all([open(t, first, id), open(t, second, id)])
    here.type(' typed')
    await there.sees(([one]) => one === 'one typed')
    there.type(' too', 1)
    await here.sees(([, two]) => two === 'two too')
    t.notMatch(JSON.stringify((await bodyOf(ada, id)).blocks), 'typed', 'nothing is stored yet')

    here.provider.setAwarenessField('cursor', 1)
    await eventually(() => cursors(there).includes(1))
    t.ok(
      [...(there.provider.awareness?.getStates().values() ?? [])].some(({ user, cursor }) => cursor === 1 && user.name),
      'cursors have names',
    )
    const guest = await open(t, first, id)
    guest.provider.setAwarenessField('cursor', 2)
    await eventually(() => cursors(there).includes(2))
    guest.close()
    await eventually(() => !cursors(there).includes(2))

    here.type(', and its process was killed')
    await there.sees(([one]) => one === 'one typed, and its process was killed')
    first.signal('SIGKILL')
    here.close()
    await eventually(() => !cursors(there).includes(1))
    t.pass('the cursors of a killed process vanish')
    await eventually(async () => JSON.stringify((await bodyOf(ada, id)).blocks).includes('was killed'))
    t.strictSame(there.texts, ['one typed, and its process was killed', 'two too'])
    t.equal((await bodyOf(ada, id)).blocks.length, 2)
  },
)

t.test('the cursor of an editor that connects to another process stays, until the editor leaves', async (t) => {
  const [first, second] = (await Promise.all([start(t, patient), start(t, patient)])) as [CollabProcess, CollabProcess]
  const { id } = await make(ada, [p('one')])
  const network = await startNetwork(t, first.url)
  const [watching, elsewhere] = await Promise.all([open(t, first, id), open(t, second, id)])
  const moving = await Person.open({ url: network.url, token: ada.bearer ?? '', documentId: id })
  moving.provider.setAwarenessField('cursor', 7)
  await eventually(() => cursors(watching).includes(7) && cursors(elsewhere).includes(7))
  network.cut()
  await eventually(() => !cursors(watching).includes(7) && !moving.provider.isSynced)
  network.heal(second.url)
  await eventually(() => moving.provider.isSynced)
  moving.provider.setAwarenessField('cursor', 8)
  await eventually(() => cursors(watching).includes(8) && cursors(elsewhere).includes(8))
  moving.close()
  await eventually(() => !cursors(watching).includes(8) && !cursors(elsewhere).includes(8))
  t.pass('the process that the editor has left does not keep the cursor')
})

t.test('people at two processes type and save the same document, and every block is there once', async (t) => {
  const [first, second] = (await Promise.all([start(t), start(t)])) as [CollabProcess, CollabProcess]
  const { id } = await make(ada, [p('one'), p('two'), p('three')])
  const [here, there] = await Promise.all([open(t, first, id), open(t, second, id)])
  for (let count = 0; count < 40; count += 1) {
    here.type(`${count % 10}`, 0)
    there.type(`${count % 10}`, 1)
    await sleep(10)
  }
  await Promise.all([here.saved(), there.saved()])
  const digits = '0123456789'.repeat(4)
  const texts = [`one${digits}`, `two${digits}`, 'three']
  await here.sees((seen) => seen.join() === texts.join())
  await there.sees((seen) => seen.join() === texts.join())
  t.strictSame(
    (await bodyOf(ada, id)).blocks.map(({ content }) => content?.[0]?.text),
    texts,
  )
})

t.test(
  'text of a killed process moves along with its block, before anybody knows of the end of the process',
  async (t) => {
    const [first, second] = (await Promise.all([start(t, patient), start(t, patient)])) as [
      CollabProcess,
      CollabProcess,
    ]
    const { id, blocks } = await make(ada, [p('one'), p('two'), p('three')])
    const [here, there] = await Promise.all([open(t, first, id), open(t, second, id)])
    here.type(' typed')
    await there.sees(([one]) => one === 'one typed')
    first.signal('SIGKILL')
    here.close()
    const [one, two, three] = blocks as [BlockNode, BlockNode, BlockNode]
    t.equal((await put(ada, id, [two, three, one])).status, 200)
    await there.sees((texts) => texts.join() === 'two,three,one typed')
    t.match((await bodyOf(ada, id)).blocks, [{ attrs: two.attrs }, { attrs: three.attrs }, { attrs: one.attrs }])
    t.match(JSON.stringify((await bodyOf(ada, id)).blocks), 'one typed')
  },
)

t.test('the relay goes on after the database has ended its sessions', async (t) => {
  const [first, second] = (await Promise.all([start(t, patient), start(t, patient)])) as [CollabProcess, CollabProcess]
  const { id } = await make(ada, [p('one')])
  const [here, there] = await Promise.all([open(t, first, id), open(t, second, id)])
  here.type(' before')
  await there.sees(([one]) => one === 'one before')
  const client = new pg.Client(service.url)
  await client.connect()
  await client.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE application_name = 'svc-collab-peers' AND datname = current_database()`,
  )
  await client.end()
  here.type(' after')
  await there.sees(([one]) => one === 'one before after')
})

t.test('a write that no process has heard of reaches the editors of all', async (t) => {
  const [first, second] = (await Promise.all([start(t), start(t)])) as [CollabProcess, CollabProcess]
  const { id } = await make(ada, [p('one')])
  const people = await Promise.all([open(t, first, id), open(t, second, id)])
  const client = new pg.Client(service.url)
  await client.connect()
  const listeners = `FROM pg_stat_activity WHERE application_name = 'svc-listen' AND datname = current_database()`
  const { rowCount } = await client.query(`SELECT pg_terminate_backend(pid) ${listeners}`)
  t.ok((rowCount ?? 0) >= 2)
  t.equal((await put(ada, id, [p('unheard'), p('two')])).status, 200)
  await client.end()
  for (const person of people) await person.sees((texts) => texts.join() === 'unheard,two')
  people[0]?.type(' of')
  await people[1]?.sees(([one]) => one === 'unheard of')
  t.equal((await bodyOf(ada, id)).blocks.length, 2)
})

for (const how of ['stopped', 'killed'] as const) {
  const title = `text of a process that was ${how} moves along when somebody drags its block who did not see it`
  t.test(title, { timeout: 60_000 }, async (t) => {
    const [first, second] = (await Promise.all([start(t, patient), start(t)])) as [CollabProcess, CollabProcess]
    const { id } = await make(ada, [p('one'), p('two')])
    const [typist, guest, mover] = await Promise.all([open(t, first, id), open(t, second, id), open(t, second, id)])
    mover.close()
    typist.type(' typed')
    await guest.sees(([one]) => one === 'one typed')
    typist.close()
    if (how === 'stopped') await first.stop()
    else first.signal('SIGKILL')
    const fragment = bodyFragment(mover.doc)
    const [block] = mover.body.content as [BlockNode]
    const copy = writeNode(block)
    mover.doc.transact(() => {
      fragment.delete(0, 1)
      fragment.insert(1, [copy])
    })
    const returned = await Person.open({ url: second.url, token: ada.bearer ?? '', documentId: id, doc: mover.doc })
    await returned.saved()
    // The text is kept for the moment when the killed process counts as gone, also when nobody has the document open.
    returned.close()
    guest.close()
    await eventually(async () => JSON.stringify((await bodyOf(ada, id)).blocks).includes('one typed'))
    const reader = await open(t, second, id)
    t.strictSame(reader.texts, ['two', 'one typed'])
  })
}

t.test('a paste of a megabyte reaches the other process', async (t) => {
  const roomy = { ...patient, QUOTA_DOCUMENT_CHARACTERS: '2000000' }
  const [first, second] = (await Promise.all([start(t, roomy), start(t, roomy)])) as [CollabProcess, CollabProcess]
  const { id } = await make(ada, [p('one')])
  const [here, there] = await Promise.all([open(t, first, id), open(t, second, id)])
  here.type('0123456789'.repeat(100_000))
  await eventually(() => there.textAt(0).length === 1_000_003)
  t.equal(bodyFragment(there.doc).length, 1)
  const metrics = await (await fetch(`${second.origin}/metrics`)).text()
  t.match(metrics, /^svc_collab_relayed_messages_total\{direction="received"\} [1-9]/m)
  t.match(metrics, /^svc_collab_relay_dropped_chunks_total 0$/m)
  t.match(metrics, /^svc_collab_peers 1$/m)
})

function cursors({ provider }: Person): unknown[] {
  return [...(provider.awareness?.getStates().values() ?? [])].map(({ cursor }) => cursor)
}

async function start(t: Teardown, env: Record<string, string> = {}): Promise<CollabProcess> {
  const { DATA_DIR } = service.config
  const started = await startCollab({ DATABASE_URL: service.url, DATA_DIR, ...env })
  t.teardown(started.stop)
  return started
}

async function open(t: Teardown, process: CollabProcess, documentId: string): Promise<Person> {
  const person = await Person.open({ url: process.url, token: ada.bearer ?? '', documentId })
  t.teardown(() => person.close())
  return person
}
