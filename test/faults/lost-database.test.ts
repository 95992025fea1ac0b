import t from 'tap'
import { startProcess } from '../support/processes.ts'
import { startSite, until } from '../support/site.ts'

t.test('a process that stays without its database says so and ends, and the next one waits for it', async (t) => {
  const site = await startSite(t, { settings: { DATABASE_PATIENCE_SECONDS: '10' } })
  const worker = await site.work('search')
  await site.stopPostgres()
  t.equal((await fetch(`${site.client.origin}/healthz`)).status, 200)
  const ready = await fetch(`${site.client.origin}/readyz`)
  t.match({ status: ready.status, body: await ready.json() }, { status: 503, body: { checks: { database: 'failed' } } })
  for (const process of [site.api, worker]) {
    t.equal(await process.ended, 69)
    t.match(process.output(), '"msg":"the database is out of reach"')
    t.match(process.output(), '"msg":"the database has stayed out of reach: the process ends"')
  }
  const next = startProcess('workers/main.ts', { words: ['search'], env: site.env })
  t.teardown(() => next.signal('SIGKILL'))
  await until(async () => next.output().includes('"msg":"the database is out of reach"'))
  await site.startPostgres()
  await until(async () => next.output().includes('"msg":"working"'))
  t.equal(await next.stop(), 0)
})
