import { sql } from '../../../shared/database/database.ts'
import { workerTypes } from '../../../workers/types.ts'
import { Client } from '../../support/client.ts'
import { startCollab } from '../../support/collab.ts'
import { startAnother } from '../../support/event-streams.ts'
import { startWorker } from '../../support/processes.ts'
import { startTestService } from '../../support/service.ts'
import { until } from '../../support/site.ts'
import { t } from '../../support/tap.ts'

t.test('metrics say how many processes of each type live, also when one has died or lost its connection', async (t) => {
  const service = await startTestService(t)
  const scraper = new Client(service)
  const live = async () => {
    const { text } = await scraper.get('//metrics')
    const lines = text.matchAll(/^svc_live_processes\{type="(\w+)"\} (\d+)$/gm)
    return Object.fromEntries(Array.from(lines, ([, type, count]) => [type, Number(count)]))
  }
  const idle = Object.fromEntries([...Object.keys(workerTypes), 'collab'].map((type) => [type, 0]))
  const becomes = async (expected: Record<string, number>) => {
    let last: Record<string, number> = {}
    await until(async () => {
      last = await live()
      return Object.entries(expected).every(([type, count]) => last[type] === count)
    })
    t.strictSame(last, { ...idle, ...expected })
  }
  t.strictSame(await live(), { ...idle, api: 1 })

  const env = { DATABASE_URL: service.url }
  const search = await startWorker(['search'], env)
  t.teardown(search.stop)
  const both = await startWorker(['search', 'events'], env)
  t.teardown(both.stop)
  const collab = await startCollab({ ...env, DATA_DIR: service.config.DATA_DIR })
  t.teardown(collab.stop)
  await becomes({ api: 1, collab: 1, search: 2, events: 1 })
  t.equal(await collab.stop(), 0)
  await becomes({ api: 1, collab: 0, search: 2, events: 1 })

  await service.database.query(sql.unsafe`
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE application_name = 'svc-living' AND datname = current_database()`)
  await becomes({ api: 1, search: 2, events: 1 })
  both.signal('SIGKILL')
  await becomes({ api: 1, search: 1, events: 0 })
  t.equal(await search.stop(), 0)
  await becomes({ api: 1, search: 0, events: 0 })

  // Several requests at a time need several connections, but they are one process.
  const other = new Client(await startAnother(t, service))
  await Promise.all(Array.from({ length: 5 }, () => other.get('//readyz')))
  await becomes({ api: 2, search: 0, events: 0 })
})
