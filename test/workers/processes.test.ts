import Type from 'typebox'
import { sql } from '../../shared/database/database.ts'
import { row } from '../../shared/database/row.ts'
import { queues } from '../../shared/jobs/queues.ts'
import { startProcess, startWorker } from '../support/processes.ts'
import { searchV2 } from '../support/search.ts'
import { startTestService } from '../support/service.ts'
import { until } from '../support/site.ts'
import { t } from '../support/tap.ts'
import { untilFresh, write } from '../support/workers.ts'

t.test('a process runs the worker types it is told to, and no others', async (t) => {
  const service = await startTestService(t)
  const ada = await service.signUp()
  const env = { DATABASE_URL: service.url }
  await write(ada, 'a heron')
  await service.service.jobs.boss.send(queues.sweepStale.name, {})
  const unnumbered = () =>
    service.database.oneFirst(sql.type(row(Type.Object({ count: Type.Number() })))`
      SELECT count(*) AS count FROM events WHERE event_id IS NULL`)
  const waiting = () =>
    service.database.oneFirst(sql.type(row(Type.Object({ count: Type.Number() })))`
      SELECT count(*) AS count FROM pgboss.job WHERE name = ${queues.sweepStale.name} AND state = 'created'`)

  const search = await startWorker(['search'], { ...env, WORKER_CONCURRENCY: '8' })
  t.teardown(search.stop)
  await untilFresh(ada)
  t.equal((await searchV2(ada, { q: 'heron' })).results.length, 1)
  t.strictSame([await unnumbered(), await waiting()], [1, 1], 'events and sweeps are left to others')
  t.equal(await search.stop(), 0)

  const events = await startWorker([], { ...env, WORKER_QUEUES: 'events' })
  t.teardown(events.stop)
  await until(async () => (await unnumbered()) === 0)
  t.equal(await waiting(), 1)
  t.equal(await events.stop(), 0)
})

t.test('a worker type that does not exist is refused by its name, with those that do', async (t) => {
  for (const [words, env] of [
    [['search', 'serach'], {}],
    [[], { WORKER_QUEUES: 'serach' }],
  ] as const) {
    const refused = startProcess('workers/main.ts', {
      words: [...words],
      env: { DATABASE_URL: 'postgres://x', ...env },
    })
    t.equal(await refused.ended, 1)
    t.match(refused.output(), /unknown worker types: serach; there are .*search.*events.*sweeps/)
  }
})
