import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startEmbeddedPostgres } from '../../../shared/start/embedded-postgres.ts'
import { freePort } from '../../../shared/start/processes.ts'
import { Client } from '../../support/client.ts'
import { followEvents } from '../../support/event-streams.ts'
import { type Settings, startWholeService } from '../../support/processes.ts'
import { until } from '../../support/site.ts'
import { type Test, t } from '../../support/tap.ts'

// OUTAGE_SECONDS=600 is the long form of the test, with the default DATABASE_PATIENCE_SECONDS.
const outageSeconds = Number(process.env['OUTAGE_SECONDS'] ?? 20)
const patience: Settings = outageSeconds < 300 ? { DATABASE_PATIENCE_SECONDS: '10' } : {}

t.test('a long outage of the database ends by itself: everything works again, and nothing is lost', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'documents-outage-'))
  const startPostgres = await postgresOf(t, directory)
  let postgres = await startPostgres()
  t.teardown(() => postgres.stop())
  const service = await startWholeService({
    directory,
    env: { DATABASE_URL: postgres.url, RATE_WRITE_PER_MIN: '0', RATE_READ_PER_MIN: '0', ...patience },
  })
  t.teardown(service.stop)
  const client = new Client(service)
  const stream = await followEvents(t, client)

  const load = keepWriting(client)
  await until(async () => load.acknowledged.size >= 20)
  await postgres.stop()
  const stopped = performance.now()
  const ready = await client.get('//readyz')
  t.match(
    { status: ready.status, body: JSON.parse(ready.text) },
    { status: 503, body: { checks: { database: 'failed' } } },
  )
  t.equal(await statusOf(`${service.origin}/healthz`), 200, 'the process itself is well')
  const ended = () => service.output().match(/"msg":"the database has stayed out of reach: the process ends"/g) ?? []
  const names = ['api', 'worker', 'collab']
  await until(async () => ended().length >= names.length)
  for (const name of names) {
    const lines = service.output().split('\n')
    const own = lines.filter((line) => line.includes(`"service":"${name}`))
    const said = (message: string) => own.some((line) => line.includes(`"msg":"${message}"`))
    t.ok(said('the database is out of reach'), `${name} says so`)
    t.ok(said('the database has stayed out of reach: the process ends'), `${name} ends`)
  }
  await sleep(Math.max(0, outageSeconds * 1000 - (performance.now() - stopped)))
  await until(async () => (await statusOf(`${service.origin}/readyz`)) === 503)

  postgres = await startPostgres()
  await until(async () => (await statusOf(`${service.origin}/readyz`)) === 200)
  const writtenBefore = load.acknowledged.size
  await until(async () => load.acknowledged.size >= writtenBefore + 20)
  await load.stop()
  t.notOk(load.statuses.has(500), `answers were ${[...load.statuses]}`)
  t.comment(`${load.acknowledged.size} documents written, ${ended().length} processes started anew`)
  const missing: string[] = []
  for (const [id, text] of load.acknowledged) {
    await until(async () => (await client.get(`/search/v2?q=${text}`)).body.data.projection.complete)
    const { results } = (await client.get(`/search/v2?q=${text}`)).body.data
    if (results[0]?.document_id !== id) missing.push(text)
  }
  t.same(missing, [], 'what was acknowledged is there and found')
  const resumed = await followEvents(t, client, { lastEventId: stream.received.at(-1)?.id ?? '' })
  const announced = () => new Set([...stream.received, ...resumed.received].map(({ data }) => data.document?.id))
  await until(async () => [...load.acknowledged.keys()].every((id) => announced().has(id)))
  t.equal(await service.stop(), 0)
})

// PostgreSQL runs beside the service here, since `npm start` ends when its own PostgreSQL ends.
async function postgresOf(t: Test, directory: string) {
  t.teardown(() => rmSync(directory, { recursive: true, force: true }))
  const port = await freePort({ host: '127.0.0.1' })
  return () => startEmbeddedPostgres({ directory, port })
}

function keepWriting(client: Client) {
  const acknowledged = new Map<string, string>()
  const statuses = new Set<number>()
  let running = true
  const done = (async () => {
    for (let number = 1; running; number += 1) {
      const content = { format: 'markdown', content: `word${number}` }
      const reply = await client.post('/documents', { title: 'x', content }).catch(() => undefined)
      if (reply !== undefined) statuses.add(reply.status)
      if (reply?.status === 201) acknowledged.set(reply.body.data.id, `word${number}`)
      else await sleep(100)
    }
  })()
  return {
    acknowledged,
    statuses,
    stop() {
      running = false
      return done
    },
  }
}

async function statusOf(url: string): Promise<number | undefined> {
  return (await fetch(url).catch(() => undefined))?.status
}
