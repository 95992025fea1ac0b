import { sql } from '../../shared/database/database.ts'
import { deadLetterOf, queues } from '../../shared/jobs/queues.ts'
import { createLogger } from '../../shared/process/log.ts'
import { deleteFinishedJobs, deleteForgottenJobs, exhaustRetries } from '../../workers/runtime/job-queries.ts'
import { failLapsedAttempts } from '../../workers/runtime/supervision.ts'
import { startBesidePgBoss } from '../support/pg-boss.ts'
import { t } from '../support/tap.ts'

/*
 * Compares the statements of our workers on pg-boss's table with pg-boss's own. In each test pg-boss works on one queue
 * (`theirs`), our statement on another queue with the same options (`ours`), and the remaining rows are compared.
 */

const [theirs, ours] = [queues.searchIndex, queues.relationsExtract]

t.test('jobs are taken in the order and the manner in which pg-boss takes them', async (t) => {
  const { boss, runtime, rows } = await startBesidePgBoss(t)
  for (const { name } of [theirs, ours]) {
    await boss.insert(name, [
      { data: { n: 1 }, singletonKey: 'a' },
      { data: { n: 2 }, singletonKey: 'b', priority: 5 },
      { data: { n: 3 }, singletonKey: 'c', startAfter: 600 },
      { data: { n: 4 }, singletonKey: 'd', heartbeatSeconds: 20, expireInSeconds: 30 },
    ])
    const [retried] = await boss.fetch(name, { batchSize: 1 })
    await boss.fail(name, retried ? [retried] : [], { message: 'once' })
    await boss.update(name, null, { singletonKey: 'b', startAfter: 0 })
  }
  const fetched = await boss.fetch(theirs.name, { batchSize: 10 })
  const claimed = await runtime.attempts.claim(ours, 10)
  const shown = (jobs: typeof fetched) => jobs.map(({ id: _, name: __, signal: ___, ...job }) => job)
  const byNumber = (jobs: object[]) => jobs.map((job) => JSON.stringify(job)).sort()
  t.equal(claimed.length, 3)
  t.strictSame(byNumber(shown(claimed)), byNumber(shown(fetched)))
  t.strictSame(await rows(ours.name), await rows(theirs.name))
  t.strictSame(await boss.fetch(theirs.name, { batchSize: 10 }), [])
  t.strictSame(await runtime.attempts.claim(ours, 10), [])
})

t.test('of many jobs the same come first', async (t) => {
  const { boss, runtime } = await startBesidePgBoss(t)
  for (const { name } of [theirs, ours]) {
    for (const [n, priority] of [0, 0, 7, 0, -1].entries()) {
      await boss.send(name, { n }, { priority, singletonKey: `${n}` })
    }
  }
  for (let turn = 0; turn < 5; turn += 1) {
    const [fetched] = await boss.fetch(theirs.name)
    const [claimed] = await runtime.attempts.claim(ours, 1)
    t.strictSame(claimed?.data, fetched?.data)
  }
})

t.test('two jobs of one key never run together, and neither holds up others', async (t) => {
  const { boss, runtime } = await startBesidePgBoss(t)
  for (const [n, singletonKey] of ['a', 'a', 'b'].entries()) await boss.send(ours.name, { n }, { singletonKey })
  const numbers = async (limit: number) => (await runtime.attempts.claim(ours, limit)).map(({ data }) => data)
  const [first] = await runtime.attempts.claim(ours, 1)
  t.match(first?.data, { n: 0 })
  t.strictSame(await numbers(5), [{ n: 2 }])
  await boss.deleteJob(ours.name, first ? [first] : [])
  t.strictSame(await numbers(5), [{ n: 1 }])
  for (const [n, singletonKey] of ['c', 'c'].entries()) await boss.send(ours.name, { n }, { singletonKey })
  t.strictSame(await numbers(5), [{ n: 0 }], 'nor are they taken together')
})

t.test('attempts that are over are failed as pg-boss fails them', async (t) => {
  const { boss, runtime, rows, database, service } = await startBesidePgBoss(t)
  for (const { name } of [theirs, ours]) {
    await boss.insert(name, [
      { data: { n: 1 }, singletonKey: 'expired' },
      { data: { n: 2 }, singletonKey: 'silent' },
      { data: { n: 3 }, singletonKey: 'alive' },
      { data: { n: 4 }, singletonKey: 'the last retry', retryLimit: 0 },
    ])
  }
  await boss.fetch(theirs.name, { batchSize: 10 })
  await runtime.attempts.claim(ours, 10)
  await database.query(sql.unsafe`
    UPDATE pgboss.job SET started_on = now() - interval '301 seconds'
    WHERE singleton_key IN ('expired', 'the last retry')`)
  await database.query(sql.unsafe`
    UPDATE pgboss.job SET heartbeat_on = now() - interval '11 seconds' WHERE singleton_key = 'silent'`)
  await boss.supervise(theirs.name)
  const log = createLogger({ service: 'test', config: { LOG_LEVEL: 'silent', LOG_FORMAT: 'json' } })
  t.equal(await failLapsedAttempts({ database, jobs: service.jobs, log }), 2, 'one of each queue goes on')
  const left = await rows(ours.name)
  const unexplained = (jobs: typeof left) => jobs.map(({ output: _, ...job }) => job)
  t.strictSame(unexplained(left), unexplained(await rows(theirs.name)))
  t.match(left, [{ state: 'retry' }, { state: 'retry' }, { state: 'active' }, { state: 'failed' }])
  t.equal((await rows(deadLetterOf(ours))).length, 1)
  t.equal((await rows(deadLetterOf(theirs))).length, 1)
})

t.test('jobs are forgotten when pg-boss would forget them', async (t) => {
  const { boss, rows, database } = await startBesidePgBoss(t)
  const [kept, gone] = ['1 hour', '1 second']
  for (const { name } of [theirs, ours]) {
    for (const [state, age] of [
      ['completed', kept],
      ['completed', gone],
      ['failed', gone],
      ['failed', kept],
      ['cancelled', gone],
    ] as const) {
      await database.query(sql.unsafe`
        INSERT INTO pgboss.job (name, state, data, deletion_seconds, completed_on)
        VALUES (${name}, ${state}::pgboss.job_state, ${JSON.stringify({ n: `${state} ${age}` })}::jsonb, 3600,
          now() - interval '1 hour' - interval '1 second' + CASE WHEN ${age} = ${kept} THEN interval '1 minute' ELSE interval '0' END)`)
    }
    await boss.insert(name, [
      { data: { n: 'waits' }, singletonKey: 'waits' },
      { data: { n: 'was never taken' }, singletonKey: 'was never taken' },
    ])
    await database.query(sql.unsafe`
      UPDATE pgboss.job SET start_after = now() - interval '15 days', keep_until = now() - interval '1 day'
      WHERE name = ${name} AND singleton_key = 'was never taken'`)
  }
  await boss.supervise(theirs.name)
  t.equal(await deleteFinishedJobs(database, { batch: 2 }), 2, 'a slice at a time')
  t.equal(await deleteFinishedJobs(database, { batch: 2 }), 1)
  t.equal(await deleteForgottenJobs(database, { batch: 100 }), 1)
  const left = await rows(ours.name)
  t.strictSame(
    left.map(({ data }) => (data as { n: string }).n),
    [`completed ${kept}`, `failed ${kept}`, 'waits'],
  )
  t.strictSame(
    (await rows(theirs.name)).map(({ data }) => (data as { n: string }).n),
    [`completed ${kept}`, `failed ${kept}`, 'waits'],
  )
})

t.test('a job whose retries are given up on goes where pg-boss sends those that have none left', async (t) => {
  const { boss, rows, runtime, database } = await startBesidePgBoss(t)
  await boss.send(ours.name, { n: 1 })
  const attempts = await runtime.attempts.claim(ours, 1)
  await exhaustRetries(database, { queue: ours.name, attempts })
  await boss.fail(ours.name, attempts, { message: 'poison' })
  t.match(await rows(ours.name), [{ state: 'failed', output: { message: 'poison' } }])
  t.match(await rows(deadLetterOf(ours)), [{ state: 'created', source_output: { message: 'poison' } }])
})
