import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { readConfig } from '../../../shared/config/config.ts'
import { queues } from '../../../shared/jobs/queues.ts'
import { createLogger } from '../../../shared/process/log.ts'
import { openRuntime } from '../../../workers/runtime/runtime.ts'
import { defineWorker } from '../../../workers/runtime/work.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import { until } from '../../support/site.ts'
import { t } from '../../support/tap.ts'

t.test('a job that takes long is left alone, also when its connections are cut off', async (t) => {
  const { url, drop } = await createTestDatabase()
  t.teardown(drop)
  const config = readConfig({ DATABASE_URL: url, DATA_DIR: t.testdir() })
  const log = createLogger({ service: 'test', config: { LOG_LEVEL: 'silent', LOG_FORMAT: 'json' } })
  const client = new pg.Client(url)
  await client.connect()
  t.teardown(() => client.end())

  const runs: number[] = []
  let done = 0
  const worker = defineWorker({
    queue: queues.searchIndex,
    async run(_runtime, job) {
      runs.push(job.retryCount)
      await client.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'svc-worker'`)
      // The job takes longer than other workers wait for a heartbeat.
      await sleep(15_000)
      done += 1
      return { outcome: 'done' }
    },
  })
  for (let copy = 0; copy < 2; copy += 1) {
    const runtime = await openRuntime({ config, log, schedule: false })
    const stop = await worker.start(runtime)
    t.teardown(async () => {
      await stop()
      await runtime.close()
    })
    if (copy === 1) await runtime.jobs.boss.send(queues.searchIndex.name, {})
  }
  await until(async () => done > 0)
  t.same(runs, [0], 'it ran once')
  const { rows } = await client.query(`SELECT retry_count FROM pgboss.job WHERE name = 'search.index'`)
  t.same(rows, [{ retry_count: 0 }], 'nobody else has tried it')
})
