import type { Job, JobResult } from 'pg-boss'
import Type from 'typebox'
import { inTransaction, sql } from '../../shared/database/database.ts'
import { row } from '../../shared/database/row.ts'
import { deadLetterOf, queues } from '../../shared/jobs/queues.ts'
import { completeAttempt } from '../../workers/runtime/attempts.ts'
import type { Runtime } from '../../workers/runtime/runtime.ts'
import { takeJobs } from '../../workers/runtime/take.ts'
import { startTestService } from '../support/service.ts'
import { until } from '../support/site.ts'
import { type Test, t } from '../support/tap.ts'
import { startWorkers } from '../support/workers.ts'

const queue = queues.searchIndex

/** The interval at which every process looks for missed announcements. */
const backstopMs = 8000

t.test('of jobs that are taken together each ends as it deserves', async (t) => {
  const { send, left, take } = await start(t)
  for (const name of ['done', 'failed', 'hopeless', 'forgotten']) await send(name)
  await take(async (jobs, runtime) => {
    const results: JobResult[] = []
    for (const job of jobs) {
      const { name } = job.data as { name: string }
      if (name === 'done') {
        await inTransaction(runtime.database, (tx) => completeAttempt(tx, { runtime, queue, job }))
        results.push({ id: job.id, status: 'completed' })
      } else if (name !== 'forgotten') {
        results.push({ id: job.id, status: name === 'failed' ? 'failed' : 'deadletter', output: { message: name } })
      }
    }
    return results
  })
  await until(async () => (await left()).every(({ state }) => state !== 'active' && state !== 'created'))
  t.strictSame(await left(), [
    { name: 'failed', state: 'retry', message: 'failed' },
    { name: 'forgotten', state: 'retry', message: 'the worker said nothing of this job' },
    { name: 'hopeless', state: 'failed', message: 'hopeless' },
  ])
  t.strictSame(await left(deadLetterOf(queue)), [{ name: 'hopeless', state: 'created', message: null }])
})

t.test('a job that never ends gives its place back when its time is over', async (t) => {
  const { send, take } = await start(t)
  const begun: string[] = []
  await send('endless', { expireInSeconds: 1 })
  await take(async (jobs) => {
    for (const { data } of jobs) begun.push((data as { name: string }).name)
    return begun.length === 1 ? new Promise<never>(() => {}) : []
  })
  await until(async () => begun.length === 1)
  await send('next')
  await until(async () => begun.includes('next'))
  t.equal(begun[0], 'endless')
})

t.test('a job of which another process took hold tells the one that lost it', async (t) => {
  const { send, take, service } = await start(t)
  await send('contested')
  let signal: AbortSignal | undefined
  await take(async ([job], runtime) => {
    if (signal !== undefined) return []
    signal = job?.signal
    const lost = new Promise((resolve) => signal?.addEventListener('abort', resolve))
    await runtime.jobs.boss.fail(queue.name, job ? [job] : [], { message: 'taken away' })
    await lost
    return []
  })
  await until(async () => signal?.aborted === true)
  t.match(signal?.reason, { message: 'another attempt has the job' })
  t.equal(await service.database.oneFirst(sql.unsafe`SELECT count(*) FROM pgboss.job WHERE state = 'failed'`), 0)
})

t.test('jobs that waited for another job of their key start when it has ended, not when somebody looks', async (t) => {
  const { send, take } = await start(t)
  const begun: number[] = []
  for (let number = 0; number < 2; number += 1) await send('same')
  await take(async (jobs, runtime) => {
    begun.push(performance.now())
    // A third job comes while the first runs.
    if (begun.length === 1) await send('same')
    for (const job of jobs) await inTransaction(runtime.database, (tx) => completeAttempt(tx, { runtime, queue, job }))
    return jobs.map(({ id }) => ({ id, status: 'completed' }))
  })
  await until(async () => begun.length === 3)
  const pauses = begun.slice(1).map((at, index) => at - (begun[index] ?? 0))
  for (const pause of pauses) t.ok(pause < backstopMs / 2, `${Math.round(pause)} ms`)
})

/** Starts a service and takes the jobs of one queue in one loop. */
async function start(t: Test) {
  const service = await startTestService(t)
  const { runtime } = await startWorkers(t, service, [])
  return {
    service,
    send: (name: string, options: object = {}) =>
      service.service.jobs.boss.send(queue.name, { name }, { singletonKey: name, ...options }),
    async take(run: (jobs: Job<object>[], runtime: Runtime) => Promise<JobResult[]>) {
      const taking = { queue, loops: 1, batchSize: 4, run: (jobs: Job<object>[]) => run(jobs, runtime) }
      await takeJobs(runtime, taking)
    },
    left: (name = queue.name) =>
      service.database.any(sql.type(row(LeftRow))`
        SELECT data ->> 'name' AS name, state::text, output ->> 'message' AS message FROM pgboss.job
        WHERE job.name = ${name} ORDER BY data ->> 'name'`),
  }
}

const LeftRow = Type.Object({
  name: Type.String(),
  state: Type.String(),
  message: Type.Union([Type.String(), Type.Null()]),
})
