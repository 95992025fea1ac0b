import Type from 'typebox'
import { inTransaction, sql } from '../../shared/database/database.ts'
import { row } from '../../shared/database/row.ts'
import { Refusal } from '../../shared/errors/errors.ts'
import { markStale } from '../../shared/jobs/projections/stale.ts'
import { queues } from '../../shared/jobs/queues.ts'
import { defineProjection } from '../../workers/runtime/projection.ts'
import { searchIndexer, searchProjection } from '../../workers/search.ts'
import { staleSweep } from '../../workers/sweeps/stale.ts'
import { deadlocks } from '../support/deadlocks.ts'
import { searchV2 } from '../support/search.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { until } from '../support/site.ts'
import { type Test, t } from '../support/tap.ts'
import { atOnce, defineDisturbed, rewrite, startWorkers, untilFresh, write } from '../support/workers.ts'

t.test('a write that is rolled back leaves no job and no staleness behind', async (t) => {
  const { service, id, workspaceId } = await startWithIndexed(t)
  const before = await jobsOf(service)
  const attempt = inTransaction(service.database, async (tx) => {
    const documents = [{ id, eventRowNo: 1, quiet: true }]
    await markStale({ tx, jobs: service.service.jobs }, { workspaceId, changes: ['body'], documents })
    throw new Refusal('folder_cycle')
  })
  await t.rejects(attempt, { code: 'folder_cycle' })
  t.strictSame(await jobsOf(service), before)
  t.strictSame(await service.database.any(sql.unsafe`SELECT FROM stale_projections`), [])
})

t.test('the first write starts its job at once, and a burst behind it becomes one more', async (t) => {
  const { service, ada, id } = await startWithIndexed(t)
  // A quiet moment before the first write.
  await lastWritten(service, '1 second ago')
  await rewrite(ada, id, 'text0')
  await lastWritten(service, 'in 1 hour')
  for (let number = 1; number < 20; number += 1) await rewrite(ada, id, `text${number}`)
  t.match(await queuedJobs(service), [{ state: 'created', due: true }], 'all of them wait behind the first')

  const [reached, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const runs: number[] = []
  const beforeCommit = () => {
    runs.push(performance.now())
    reached.resolve()
    return gate.promise
  }
  const worker = await startWorkers(t, service, [defineDisturbed(searchProjection, { beforeCommit })])
  await reached.promise
  await rewrite(ada, id, 'while it runs')
  t.match(await queuedJobs(service), [{ state: 'active' }], 'the running job will see it')
  gate.resolve()
  await untilFresh(ada)
  t.equal((await searchV2(ada, { q: 'while it runs' })).results.length, 1)
  await worker.stop()
  for (let number = 0; number < 20; number += 1) await rewrite(ada, id, `later${number}`)
  const [held, ...more] = await queuedJobs(service)
  t.match([held, more], [{ state: 'created', due: Boolean }, []], 'the writes behind it have one job together')

  await startWorkers(t, service, [searchIndexer])
  await untilFresh(ada)
  t.equal((await searchV2(ada, { q: 'later19' })).results.length, 1)
})

t.test(
  'a write of a document whose job is on its way is seen by that job, and a later write has its own',
  async (t) => {
    const { service, ada, id } = await startWithIndexed(t)
    const { boss } = (await startWorkers(t, service, [])).runtime.jobs
    await rewrite(ada, id, 'first')
    const [waiting] = await queuedJobs(service)
    await rewrite(ada, id, 'second')
    t.strictSame(await queuedJobs(service), [waiting], 'the job that waits will see it')
    await boss.cancel(queues.searchIndex.name, waiting?.id ?? '')
    await rewrite(ada, id, 'third')

    await service.database.query(sql.unsafe`UPDATE stale_projections SET since = now() - interval '61 seconds'`)
    await startWorkers(t, service, [staleSweep, searchIndexer])
    await service.service.jobs.boss.send(queues.sweepStale.name, {})
    await untilFresh(ada)
    t.equal(
      (await searchV2(ada, { q: 'third' })).results.length,
      1,
      'and a job that an operator cancels is made up for',
    )
  },
)

t.test(
  'eight writers of a document at once never wait in a circle, and leave one waiting job of a queue',
  async (t) => {
    const { service, ada, id } = await startWithIndexed(t)
    await Promise.all(Array.from({ length: 8 }, (_, writer) => rewrite(ada, id, `by writer ${writer}`)))
    const Count = row(Type.Object({ name: Type.String(), jobs: Type.Number() }))
    const waiting = await service.database.any(sql.type(Count)`
    SELECT name, count(*) AS jobs FROM pgboss.job GROUP BY name ORDER BY name`)
    t.strictSame(
      waiting.map(({ name, jobs }) => `${name} ${jobs}`),
      ['changes.diff 1', 'relations.extract 1', 'search.index 1'],
    )
    t.equal(await deadlocks(service.database), 0)
  },
)

t.test('a worker that starts while a document is indexed takes the next job of it without a pause', async (t) => {
  const service = await startTestService(t)
  const ada = await service.signUp()
  const { id } = await write(ada, 'first')
  const [reached, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const beforeCommit = () => {
    reached.resolve()
    return gate.promise
  }
  const before = await startWorkers(t, service, [defineDisturbed(searchProjection, { beforeCommit })])
  await reached.promise
  await startWorkers(t, service, [searchIndexer])
  gate.resolve()
  await before.stop()
  await rewrite(ada, id, 'second')
  const begun = performance.now()
  await untilFresh(ada)
  t.ok(performance.now() - begun < 40_000, 'it would be a minute')
  t.equal((await searchV2(ada, { q: 'second' })).results.length, 1)
})

t.test('a job that fails is tried again later and later, then kept for an operator, and made up for', async (t) => {
  const { service, ada, id } = await startWithIndexed(t)
  await rewrite(ada, id, 'precious')
  const failing: typeof searchProjection = {
    ...searchProjection,
    compute: atOnce(() => {
      throw new Error('out of order')
    }),
  }
  const broken = await startWorkers(t, service, [defineProjection(failing)])
  const delays: number[] = []
  for (let attempt = 0; attempt < 5; attempt += 1) {
    await until(async () => {
      const failed = await retrying(service)
      if (failed?.retry_count !== attempt) return false
      delays.push(failed.delay)
      return true
    })
    await makeDue(service)
  }
  await until(async () => (await deadJobs(service)).length === 1)
  await broken.stop()
  for (const [attempt, delay] of delays.entries()) t.ok(delay >= 2 ** attempt, `${delay} s after attempt ${attempt}`)
  t.match(await deadJobs(service), [{ document_id: id, message: 'out of order' }])
  t.match(await searchV2(ada, { q: 'precious' }), { results: [], projection: { stale_document_ids: [id] } })

  await service.database.query(sql.unsafe`UPDATE stale_projections SET since = now() - interval '61 seconds'`)
  await startWorkers(t, service, [staleSweep, searchIndexer])
  await service.service.jobs.boss.send(queues.sweepStale.name, {})
  await untilFresh(ada)
  t.equal((await searchV2(ada, { q: 'precious' })).results.length, 1)
})

t.test('a worker that is asked to end finishes what it has begun', async (t) => {
  const { service, ada, id } = await startWithIndexed(t)
  const [reached, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const beforeCommit = () => {
    reached.resolve()
    return gate.promise
  }
  const { stop } = await startWorkers(t, service, [defineDisturbed(searchProjection, { beforeCommit })])
  await rewrite(ada, id, 'precious')
  await reached.promise
  let ended = false
  const ending = stop().then(() => {
    ended = true
  })
  await searchV2(ada, { q: 'precious' })
  t.equal(ended, false)
  gate.resolve()
  await ending
  t.match(await searchV2(ada, { q: 'precious' }), { results: [{}], projection: { complete: true } })
  t.strictSame(await queuedJobs(service), [])
})

t.test('an operator sees how jobs ended', async (t) => {
  const { service, ada, id } = await startWithIndexed(t)
  let round = 0
  const beforeCommit = async () => {
    round += 1
    if (round <= 3) await rewrite(ada, id, `text${round}`)
    else if (round <= 7 && round > 4) await ada.patch(`/documents/${id}`, { title: `title${round}` })
  }
  await rewrite(ada, id, 'text0')
  const worker = await startWorkers(t, service, [defineDisturbed(searchProjection, { beforeCommit })])
  await untilFresh(ada)
  await ada.patch(`/documents/${id}`, { title: 'title4' })
  await untilFresh(ada)
  await worker.stop()
  const text = await worker.runtime.registry.metrics()
  const lines = text.split('\n').filter((line) => line.startsWith('svc_job_duration_seconds_count'))
  for (const outcome of ['behind', 'obsolete', 'current']) {
    const line = lines.find((candidate) => candidate.includes(`queue="search.index",outcome="${outcome}"`))
    t.match(line, / [1-9]\d*$/, outcome)
  }
  t.match((await ada.get('//metrics')).text, /svc_queue_waiting_jobs\{queue="search.index"\} 0/)
})

/** Starts a service with one indexed document and no worker. */
async function startWithIndexed(t: Test) {
  const service = await startTestService(t)
  const ada = await service.signUp()
  const { id } = await write(ada, 'indexed')
  const { stop } = await startWorkers(t, service, [searchIndexer])
  await untilFresh(ada)
  await stop()
  await service.database.query(sql.unsafe`DELETE FROM pgboss.job`)
  await service.database.query(sql.unsafe`DELETE FROM stale_projections`)
  return { service, ada, id, workspaceId: ada.workspace_id }
}

/**
 * Moves the time of the last write of all documents. A time to come makes all further writes part of a burst, however
 * slowly they follow one another.
 */
async function lastWritten({ database }: TestService, at: '1 second ago' | 'in 1 hour'): Promise<void> {
  await database.query(sql.unsafe`
    UPDATE documents SET updated_at = now() + ${at === 'in 1 hour' ? '1 hour' : '-1 second'}::interval`)
}

/** Makes delayed jobs due now. */
async function makeDue({ database }: TestService): Promise<void> {
  await database.query(sql.unsafe`UPDATE pgboss.job SET start_after = now() WHERE state IN ('created', 'retry')`)
}

const JobRow = row(
  Type.Object({ id: Type.String(), state: Type.String(), due: Type.Boolean(), start_after: Type.Number() }),
)

function jobsOf({ database }: TestService) {
  return database.any(sql.type(JobRow)`
    SELECT id, state::text, start_after <= now() AS due, start_after FROM pgboss.job ORDER BY created_on, id`)
}

function queuedJobs({ database }: TestService) {
  return database.any(sql.type(JobRow)`
    SELECT id, state::text, start_after <= now() AS due, start_after FROM pgboss.job
    WHERE name = ${queues.searchIndex.name} AND state <> 'completed' ORDER BY created_on, id`)
}

const RetryRow = row(Type.Object({ retry_count: Type.Number(), delay: Type.Number() }))

function retrying({ database }: TestService) {
  return database.maybeOne(sql.type(RetryRow)`
    SELECT retry_count, extract(epoch FROM start_after - started_on)::float8 AS delay FROM pgboss.job
    WHERE name = ${queues.searchIndex.name} AND state = 'retry'`)
}

const DeadRow = row(Type.Object({ document_id: Type.String(), message: Type.String() }))

function deadJobs({ database }: TestService) {
  return database.any(sql.type(DeadRow)`
    SELECT data ->> 'document_id' AS document_id, source_output ->> 'message' AS message FROM pgboss.job
    WHERE name = 'search.index.dead'`)
}
