import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { Client } from '../../support/client.ts'
import { followEvents } from '../../support/event-streams.ts'
import { type ServiceProcess, startApi, startWorker } from '../../support/processes.ts'
import { createSilentNetwork, type SilentNetwork } from '../../support/silent-network.ts'
import { createDocument, type Site, search, startSite, until, writeDocument } from '../../support/site.ts'
import { type Test, t } from '../../support/tap.ts'

/*
 * One process of each kind is behind a network that falls silent: packets vanish both ways, and nobody is told. In each
 * test this happens at the worst moment, inside a transaction for which others wait.
 */

const network = createSilentNetwork(t)
if (network === undefined) t.comment('skipped: a network namespace needs Linux, iproute2 and its rights')
else await run(network)

async function run(network: SilentNetwork): Promise<void> {
  const site = await startSite(t, { postgres: { listen_addresses: `127.0.0.1,${network.host}` } })
  const directory = site.env['DATA_DIR'] ?? ''
  appendFileSync(join(directory, 'postgres', 'pg_hba.conf'), `host all all ${network.guest}/32 scram-sha-256\n`)
  await site.ask('SELECT pg_reload_conf()')
  const behind = new URL(site.url)
  behind.hostname = network.host
  const env = { ...site.env, DATABASE_URL: behind.href }
  const place = { within: network.within, address: network.guest }

  t.test('events get their ids soon after the sequencer has fallen silent in its turn', async (t) => {
    const silent = await startWorker(['events'], env, place)
    await createDocument(site, 'first')
    await until(async () => (await unnumbered(site)) === 0)
    const holder = await connect(t, site)
    await createHeldEvent(site, holder)
    await until(async () => (await waiting(site, 'UPDATE events')) === 1)
    await silentWhile(network, async () => {
      await holder.query('COMMIT')
      const other = await site.work('events')
      t.ok((await elapsed(async () => (await unnumbered(site)) === 0)) < longest, 'another copy goes on')
      await other.stop()
    })
    // The process hears of new events again, since no other process numbers them.
    await createDocument(site, 'second')
    t.ok((await elapsed(async () => (await unnumbered(site)) === 0)) < longest, 'and so does the silent one')
    t.equal((await site.ask('SELECT event_id FROM events GROUP BY event_id HAVING count(*) > 1')).length, 0)
    t.equal(await silent.stop(), 0)
  })

  t.test('a document that a silent process has locked can be written by others again', async (t) => {
    const api = await startApi(env, place)
    t.teardown(() => api.signal('SIGKILL'))
    const document = await createDocument(site, 'before')
    const path = `/documents/${document.id}`
    const holder = await connect(t, site)
    await holder.query('BEGIN')
    await holder.query('LOCK TABLE events IN SHARE MODE')
    const token = site.client.bearer ?? ''
    const lost = new Client({ origin: api.origin, token }).patch(path, { title: 'silent' }).catch(() => undefined)
    await until(async () => (await waiting(site, 'INSERT INTO events')) === 1)
    await silentWhile(network, async () => {
      await holder.query('COMMIT')
      let status = 0
      const waited = await elapsed(async () => {
        status = (await site.client.patch(path, { title: 'other' })).status
        return true
      })
      t.equal(status, 200)
      t.ok(waited < longest, 'well before a minute')
      t.equal(
        (await site.client.get(path)).body.data.title,
        'other',
        'and what was never acknowledged has not happened',
      )
    })
    t.ok((await elapsed(async () => (await fetch(`${api.origin}/readyz`)).ok)) < longest, 'the silent one serves again')
    await lost
  })

  t.test('the job of a silent worker is done elsewhere, once', async (t) => {
    const document = await createDocument(site, 'outdated')
    const silent = await startWorker(['search'], env, place)
    t.teardown(() => silent.signal('SIGKILL'))
    await until(async () => (await search(site, 'outdated')).results.length === 1)
    const holder = await connect(t, site)
    await holder.query('BEGIN')
    await holder.query('SELECT FROM search_documents WHERE document_id = $1 FOR UPDATE', [document.id])
    t.equal((await writeDocument(site, document, 'precious')).status, 200)
    await until(async () => (await waiting(site, 'search_documents')) === 1)
    let other: ServiceProcess | undefined
    await silentWhile(network, async () => {
      await holder.query('COMMIT')
      other = await site.work('search')
      t.ok((await elapsed(async () => (await search(site, 'precious')).projection.complete)) < longest)
    })
    t.match(await search(site, 'precious'), { results: [{ document_id: document.id, freshness: 'current' }] })
    // The silent worker finds that its attempt is over, and takes jobs again.
    await other?.stop()
    await createDocument(site, 'afterwards')
    t.ok((await elapsed(async () => (await search(site, 'afterwards')).projection.complete)) < longest)
    t.same(await site.ask(`SELECT FROM pgboss.job WHERE name LIKE '%.dead'`), [])
  })

  t.test('a stream of a silent process gets what happened meanwhile, and hears of what follows', async (t) => {
    // Without heartbeats, the stream learns of an event by a notification or after a new LISTEN.
    const api = await startApi({ ...env, SSE_HEARTBEAT_SECONDS: '300' }, place)
    t.teardown(() => api.signal('SIGKILL'))
    const events = await site.work('events')
    const stream = await followEvents(t, { origin: api.origin, bearer: site.client.bearer })
    await createDocument(site, 'heard')
    await stream.until(1)
    await silentWhile(network, async () => {
      await createDocument(site, 'unheard')
      await until(async () => (await unnumbered(site)) === 0)
      await until(async () => (await listening(site, network.guest)) === 0)
    })
    t.ok((await elapsed(async () => stream.received.length >= 2)) < longest)
    await createDocument(site, 'heard again')
    await stream.until(3)
    t.equal(new Set(stream.received.map(({ id }) => id)).size, 3)
    await events.stop()
  })
}

// In milliseconds: half of the time that each test took before its fix, and twice the time that it takes now.
const longest = 30_000

async function silentWhile(network: SilentNetwork, work: () => Promise<void>): Promise<void> {
  network.fallSilent()
  try {
    await work()
  } finally {
    network.comeBack()
  }
}

async function elapsed(isTrue: () => Promise<boolean>): Promise<number> {
  const start = performance.now()
  await until(isTrue)
  const milliseconds = performance.now() - start
  t.comment(`after ${Math.round(milliseconds)} ms`)
  return milliseconds
}

async function connect(t: Test, site: Site): Promise<pg.Client> {
  const client = new pg.Client(site.url)
  await client.connect()
  t.teardown(() => client.end())
  return client
}

// An event that this session keeps locked, so that the process that numbers events waits inside its transaction.
async function createHeldEvent(site: Site, holder: pg.Client): Promise<void> {
  const turn = `hashtextextended('svc_event_ids', 0)`
  await holder.query(`SELECT pg_advisory_lock(${turn})`)
  await createDocument(site, 'held')
  await holder.query('BEGIN')
  await holder.query('SELECT FROM events WHERE event_id IS NULL FOR UPDATE')
  await holder.query(`SELECT pg_advisory_unlock(${turn})`)
}

async function unnumbered(site: Site): Promise<number> {
  return (await site.ask('SELECT FROM events WHERE event_id IS NULL')).length
}

// The number of connections from an address that PostgreSQL still considers listening.
async function listening(site: Site, address: string): Promise<number> {
  const listeners = `SELECT FROM pg_stat_activity WHERE application_name = 'svc-listen' AND client_addr = $1::inet`
  return (await site.ask(listeners, [address])).length
}

// The number of statements that match a text and wait for a lock.
async function waiting(site: Site, text: string): Promise<number> {
  return (
    await site.ask(`SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE $1`, [`%${text}%`])
  ).length
}
