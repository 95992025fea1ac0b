import { sql } from '../../shared/database/database.ts'
import { queues } from '../../shared/jobs/queues.ts'
import { defineProjection } from '../../workers/runtime/projection.ts'
import { defineWorker } from '../../workers/runtime/work.ts'
import { searchProjection } from '../../workers/search.ts'
import { startTestService } from '../support/service.ts'
import { until } from '../support/site.ts'
import { t } from '../support/tap.ts'
import { startWorkers, untilFresh, write } from '../support/workers.ts'

const service = await startTestService(t)

t.test('a job that a full disk has ended is tried again, although it has no retries left', async (t) => {
  const ada = await service.signUp()
  await write(ada, 'heron')
  await service.database.query(sql.unsafe`UPDATE pgboss.job SET retry_limit = 0`)
  let writes = 0
  const worker = defineProjection({
    ...searchProjection,
    async write(tx, derived) {
      writes += 1
      if (writes === 1) {
        await tx.query(sql.unsafe`
          DO $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$`)
      }
      await searchProjection.write(tx, derived)
    },
  })
  await startWorkers(t, service, [worker])
  await untilFresh(ada)
  t.equal(writes, 2)
  t.strictSame(await service.database.any(sql.unsafe`SELECT FROM pgboss.job WHERE name LIKE '%.dead'`), [])
})

t.test('a job that fails by itself ends in the dead-letter queue as before', async (t) => {
  let attempts = 0
  const worker = defineWorker({
    queue: queues.sweepRetention,
    async run() {
      attempts += 1
      throw new Error('no outage')
    },
  })
  const { runtime } = await startWorkers(t, service, [worker])
  await runtime.jobs.boss.send(queues.sweepRetention.name, {}, { retryLimit: 1, retryDelay: 0 })
  await until(async () => (await runtime.jobs.boss.fetch('sweep.retention.dead')).length === 1)
  t.equal(attempts, 2)
})
