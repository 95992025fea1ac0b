import pg from 'pg'
import Type from 'typebox'
import { inTransaction, openDatabase, sql, type Transaction } from '../../shared/database/database.ts'
import { row } from '../../shared/database/row.ts'
import { deadLetterOf, queues } from '../../shared/jobs/queues.ts'
import { enqueueDocuments, type Jobs } from '../../shared/jobs/send.ts'
import { completeAttempts } from '../../workers/runtime/attempts.ts'
import { largePriority } from '../../workers/runtime/job-queries.ts'
import { deadlocks } from '../support/deadlocks.ts'
import { startBesidePgBoss } from '../support/pg-boss.ts'
import { startTestService } from '../support/service.ts'
import { until } from '../support/site.ts'
import { type Test, t } from '../support/tap.ts'
import { rewrite, write } from '../support/workers.ts'

/*
 * Compares the jobs that a write enqueues by `sql/queues/projection-jobs.sql` with the jobs that pg-boss would make of
 * the same options, and what later becomes of both.
 */

const [theirs, ours] = [queues.searchIndex, queues.relationsExtract]
const document = { workspace_id: 'ws', document_id: 'doc_1' }
const coalescingSeconds = 0.5

t.test('the job of a write has all that pg-boss would give it', async (t) => {
  const { boss, rows, times, enqueue } = await start(t)
  for (const [quiet, startAfter] of [
    [true, 0],
    [false, coalescingSeconds],
  ] as const) {
    await boss.deleteAllJobs()
    await boss.upsert(theirs.name, document, { singletonKey: document.document_id, priority: 0, startAfter })
    await enqueue({ quiet })
    t.equal((await rows(ours.name)).length, 1)
    t.strictSame(await rows(ours.name), await rows(theirs.name))
    t.strictSame(await times(ours.name), await times(theirs.name))
  }
})

t.test('the jobs of many documents have all that pg-boss would give them, beside the jobs that wait', async (t) => {
  const { boss, rows, times, database, service } = await start(t)
  const documents = ['doc_1', 'doc_2', 'doc_3'].map((document_id) => ({ workspace_id: 'ws', document_id }))
  const jobs = documents.map((data) => ({ data, singletonKey: data.document_id, priority: -1 }))
  for (const _ of ['first', 'second']) {
    await boss.insert(theirs.name, jobs)
    const requests = documents.map((one) => ({ ...one, quiet: true }))
    await inTransaction(database, (tx) =>
      enqueueDocuments({ tx, jobs: service.jobs }, { queue: ours, jobs: requests, behindOthers: true }),
    )
  }
  t.equal((await rows(ours.name)).length, 6)
  const byKey = (found: readonly Record<string, unknown>[]) => found.map((job) => JSON.stringify(job)).sort()
  t.strictSame(byKey(await rows(ours.name)), byKey(await rows(theirs.name)))
  t.strictSame(await times(ours.name), await times(theirs.name))
})

t.test('a write joins a waiting job as with pg-boss, even a job that waits for its next attempt', async (t) => {
  const { boss, rows, times, runtime, enqueue } = await start(t)
  const key = { singletonKey: document.document_id }
  for (const failed of [false, true]) {
    await boss.deleteAllJobs()
    for (const { name } of [theirs, ours]) {
      await boss.send(name, document, { ...key, startAfter: failed ? 0 : 60, priority: 3 })
    }
    if (failed) {
      const [fetched] = await boss.fetch(theirs.name)
      const [claimed] = await runtime.attempts.claim(ours, 1)
      for (const job of [fetched, claimed]) if (job) await boss.fail(job.name, job, { message: 'once' })
    }
    const before = await rows(ours.name)
    await boss.update(theirs.name, document, key)
    await enqueue({ quiet: false })
    t.strictSame(await rows(ours.name), await rows(theirs.name))
    t.strictSame(await rows(ours.name), before, 'in a burst the job stays as it is')
    const [theirTimes] = await times(theirs.name)
    if (!failed) t.match((await times(ours.name))[0]?.kept, theirTimes?.kept)

    await boss.upsert(theirs.name, document, { ...key, priority: 0, startAfter: 0 })
    await enqueue({ quiet: true })
    t.strictSame(await rows(ours.name), await rows(theirs.name))
    t.match(await rows(ours.name), [{ state: failed ? 'retry' : 'created', priority: 0 }])
    t.equal((await runtime.attempts.claim(ours, 5)).length, 1, 'it is due at once')
  }
})

t.test('an attempt that fails beside a newer job is tried again, and at last goes to the dead letters', async (t) => {
  const { boss, rows, database, runtime, enqueue } = await start(t)
  const upsert = () => boss.upsert(theirs.name, document, { singletonKey: document.document_id, startAfter: 0 })
  await upsert()
  await enqueue({ quiet: true })
  const [fetched] = await boss.fetch(theirs.name)
  const [claimed] = await runtime.attempts.claim(ours, 1)
  await upsert()
  await enqueue({ quiet: true })
  for (const job of [fetched, claimed]) if (job) await boss.fail(job.name, job, { message: 'once' })
  const states = async (name: string) => (await rows(name)).map(({ state, retry_count }) => `${state} ${retry_count}`)
  t.strictSame((await states(ours.name)).sort(), ['created 0', 'retry 0'])
  t.strictSame(await rows(ours.name), await rows(theirs.name))

  // The next attempt runs out of time while the newer job waits, and the attempt after it has no retry left.
  const activate = () =>
    database.any(sql.type(row(Type.Object({ name: Type.String(), id: Type.String() })))`
      UPDATE pgboss.job SET state = 'active', started_on = now() - interval '1 hour'
      WHERE name IN (${ours.name}, ${theirs.name}) AND state = 'retry' RETURNING name, id`)
  await activate()
  for (const { name } of [theirs, ours]) await boss.supervise(name)
  t.strictSame((await states(ours.name)).sort(), ['created 0', 'retry 0'])
  t.strictSame(await rows(ours.name), await rows(theirs.name))
  await database.query(sql.unsafe`UPDATE pgboss.job SET retry_limit = 0 WHERE state = 'retry'`)
  for (const { name, id } of await activate()) await boss.fail(name, id, { message: 'at last' })
  t.strictSame((await states(ours.name)).sort(), ['created 0', 'failed 0'])
  t.strictSame(await rows(ours.name), await rows(theirs.name))
  t.equal((await rows(deadLetterOf(ours))).length, 1)
  t.strictSame(await rows(deadLetterOf(ours)), await rows(deadLetterOf(theirs)))
})

t.test('an attempt is completed as with pg-boss, and only by the worker that has it', async (t) => {
  const { boss, rows, runtime, database } = await start(t)
  for (const { name } of [theirs, ours]) {
    await boss.insert(
      name,
      ['a', 'b', 'c'].map((n) => ({ data: { n }, singletonKey: n })),
    )
  }
  const fetched = await boss.fetch<{ n: string }>(theirs.name, { batchSize: 3 })
  const claimed = (await runtime.attempts.claim(ours, 3)) as unknown as typeof fetched
  // Another worker has the job `b`: its retry count has moved on.
  const lost = (jobs: typeof fetched) =>
    jobs.map((job) => (job.data.n === 'b' ? { ...job, retryCount: job.retryCount + 1 } : job))
  await boss.deleteJob(theirs.name, lost(fetched))
  const completed = await inTransaction(database, (tx) =>
    completeAttempts(tx, { queue: { name: ours.name, options: {} }, jobs: lost(claimed) }),
  )
  t.equal(completed.size, 2)
  t.strictSame(await rows(ours.name), await rows(theirs.name))
  t.match(await rows(ours.name), [{ state: 'active', data: { n: 'b' } }])
})

t.test('workers are told which part of a queue a job belongs to', async (t) => {
  const { boss, announced } = await start(t)
  for (const priority of [largePriority + 1, largePriority]) await boss.send(ours.name, {}, { priority })
  await until(async () => announced.length === 2)
  t.strictSame(announced, [`${ours.name} 0 small`, `${ours.name} 0 large`])
})

t.test(
  'a worker that looks while a write is open claims nothing, and is told when the write is committed',
  async (t) => {
    const { runtime, announced, database, service, enqueue } = await start(t)
    await enqueue({ quiet: true })
    await until(async () => announced.length === 1)
    await inTransaction(database, async (tx) => {
      await enqueueOne({ tx, jobs: service.jobs }, { quiet: false })
      t.strictSame(await runtime.attempts.claim(ours, 5), [])
      t.equal(announced.length, 1)
    })
    await until(async () => announced.length === 2)
    t.equal(announced[1], `${ours.name} 0 small`)
    const [claimed] = await runtime.attempts.claim(ours, 5)
    t.match(claimed?.data, document)

    await inTransaction(database, async (tx) => {
      await enqueueOne({ tx, jobs: service.jobs }, { quiet: true })
      await completeAttempts(tx, { queue: ours, jobs: claimed ? [claimed] : [] })
    })
    t.equal((await runtime.attempts.claim(ours, 5)).length, 1, 'a write behind a running job has a job of its own')
  },
)

t.test(
  'eight writers of a document at once never wait in a circle, and leave one waiting job of a queue',
  async (t) => {
    const service = await startTestService(t)
    const ada = await service.signUp()
    const { id } = await write(ada, 'first')
    await service.database.query(sql.unsafe`DELETE FROM pgboss.job`)
    await Promise.all(Array.from({ length: 8 }, (_, writer) => rewrite(ada, id, `by writer ${writer}`)))
    const Count = row(Type.Object({ name: Type.String(), jobs: Type.Number() }))
    const waiting = await service.database.any(sql.type(Count)`
    SELECT name, count(*) AS jobs FROM pgboss.job WHERE singleton_key = ${id} GROUP BY name ORDER BY name`)
    t.strictSame(
      waiting.map(({ name, jobs }) => `${name} ${jobs}`),
      ['changes.diff 1', 'relations.extract 1', 'search.index 1'],
    )
    t.equal(await deadlocks(service.database), 0)
  },
)

t.test('a connection that has planned its statements without jobs stays quick when many wait', async (t) => {
  const { url, service } = await start(t)
  const database = await openDatabase({ url, poolSize: 1 })
  t.teardown(() => database.end())
  const reads = (work: (tx: Transaction) => Promise<unknown>) =>
    inTransaction(database, async (tx) => {
      const before = await rowsRead(tx)
      await work(tx)
      const after = await rowsRead(tx)
      return after.map((count, index) => count - (before[index] ?? 0))
    })
  const unknown = { id: '00000000-0000-4000-8000-000000000000', retryCount: 0 } as Parameters<
    typeof completeAttempts
  >[1]['jobs'][number]
  for (let time = 0; time < 8; time += 1) {
    for (const quiet of [true, false]) await reads((tx) => enqueueOne({ tx, jobs: service.jobs }, { quiet }))
    await reads((tx) => completeAttempts(tx, { queue: ours, jobs: [unknown] }))
    await database.query(sql.unsafe`DELETE FROM pgboss.job`)
    await database.query(sql.unsafe`ANALYZE pgboss.job_common`)
  }
  await service.jobs.boss.insert(
    ours.name,
    Array.from({ length: 10_000 }, (_, n) => ({ data: {}, singletonKey: `doc_x${n}` })),
  )
  for (const quiet of [true, false, true]) {
    const [sequential = 0, byIndex = 0] = await reads((tx) => enqueueOne({ tx, jobs: service.jobs }, { quiet }))
    t.ok(sequential + byIndex < 10, `a write reads ${sequential} and ${byIndex} rows`)
  }
  const read = await reads((tx) => completeAttempts(tx, { queue: ours, jobs: [unknown] }))
  t.strictSame(read, [0, 0])
})

/** Starts a service beside pg-boss, and hears the announcements of jobs. */
async function start(t: Test) {
  const beside = await startBesidePgBoss(t)
  const listener = new pg.Client(beside.url)
  await listener.connect()
  t.teardown(() => listener.end())
  const announced: string[] = []
  listener.on('notification', ({ payload = '' }) => announced.push(payload))
  await listener.query('LISTEN svc_jobs')
  const enqueue = (write: { quiet: boolean }) =>
    inTransaction(beside.database, (tx) => enqueueOne({ tx, jobs: beside.service.jobs }, write))
  return { ...beside, announced, enqueue }
}

function enqueueOne(context: { tx: Transaction; jobs: Jobs }, { quiet }: { quiet: boolean }): Promise<void> {
  return enqueueDocuments(context, { queue: ours, jobs: [{ ...document, quiet }] })
}

async function rowsRead(tx: Transaction): Promise<number[]> {
  const { sequential, by_index } = await tx.one(
    sql.type(row(Type.Object({ sequential: Type.Number(), by_index: Type.Number() })))`
    SELECT seq_tup_read AS sequential, idx_tup_fetch AS by_index FROM pg_stat_xact_user_tables
    WHERE schemaname = 'pgboss' AND relname = 'job_common'`,
  )
  return [sequential, by_index]
}
