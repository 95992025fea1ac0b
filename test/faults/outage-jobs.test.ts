import { inTransaction, sql } from '../../shared/database/database.ts'
import { queues } from '../../shared/jobs/queues.ts'
import { completeAttempt } from '../../workers/runtime/attempts.ts'
import { defineWorker } from '../../workers/runtime/job-worker.ts'
import { startTestService } from '../support/service.ts'
import { until } from '../support/site.ts'
import { t } from '../support/tap.ts'
import { startWorkers } from '../support/workers.ts'

const service = await startTestService(t)

t.test('a job that a full disk has ended is tried again, although it has no retries left', async (t) => {
  const attempts: number[] = []
  let done = false
  const worker = defineWorker({
    queue: queues.sweepStale,
    async run(runtime, job) {
      attempts.push(job.retryCount)
      if (attempts.length < 3) {
        await runtime.database.query(sql.unsafe`
          DO $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$`)
      }
      await inTransaction(runtime.database, (tx) => completeAttempt(tx, { runtime, queue: queues.sweepStale, job }))
      done = true
      return 'done'
    },
  })
  const { runtime } = await startWorkers(t, service, [worker])
  await runtime.jobs.boss.send(queues.sweepStale.name, {}, { retryLimit: 0, retryDelay: 1 })
  await until(async () => done)
  t.same(attempts, [0, 1, 2], 'each attempt has a number of its own, which fences off the ones before')
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
