import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { PgBoss } from 'pg-boss'
import Type from 'typebox'
import { inTransaction, sql, type Transaction } from '../../../shared/database/database.ts'
import { row } from '../../../shared/database/row.ts'
import { deadLetterOf, queues } from '../../../shared/jobs/queues.ts'
import { queueLoads, queueStates } from '../../../shared/jobs/reads.ts'
import { defineWorker } from '../../../workers/runtime/work.ts'
import { retentionSweep } from '../../../workers/sweeps/retention.ts'
import { workersOf, workerTypes } from '../../../workers/types.ts'
import { serverVariable } from '../../support/postgres.ts'
import { startTestService, type TestService } from '../../support/service.ts'
import { until } from '../../support/site.ts'
import { type Test, t } from '../../support/tap.ts'
import { startWorkers, untilFresh, write } from '../../support/workers.ts'

/** The interval at which a process at rest looks for jobs that nobody announced, in seconds. */
const backstopSeconds = 5

t.test('workers without work leave the database alone', async (t) => {
  const service = await startTestService(t)
  const ada = await service.signUp()
  await startWorkers(t, service, workersOf(Object.keys(workerTypes) as (keyof typeof workerTypes)[]))
  await write(ada, 'something to do')
  await untilFresh(ada)
  // PostgreSQL counts the work of a connection within a second of its next statement, or after ten seconds without one.
  await sleep(12_000)
  const transactions = await transactionCounter(t, service)
  const before = await transactions()
  await sleep(12_000)
  const seen = (await transactions()) - before
  // The process looks once in five seconds. A poll of each queue twice a second would make 300.
  t.ok(seen <= 12, `${seen} transactions`)
})

t.test('a delayed job and a retry start when they are due, though nobody polls', async (t) => {
  const service = await startTestService(t)
  const starts = await workOn(t, service, { failures: 1 })
  const { boss } = service.service.jobs
  await boss.send(queues.searchIndex.name, {}, { startAfter: 2, retryDelay: 1, retryBackoff: false })
  await until(async () => starts.length === 2)
  t.equal(starts[1]?.attempt, 1)
  for (const { late } of starts) t.ok(late >= 0 && late < backstopSeconds / 4, `${late} s late`)
})

t.test('a job that nobody was told of is found all the same', async (t) => {
  const service = await startTestService(t)
  const starts = await workOn(t, service, { failures: 0 })
  const { boss } = service.service.jobs
  await boss.send(queues.searchIndex.name, {})
  await until(async () => starts.length === 1)
  // pg-boss announces only jobs of queues with `notify`.
  await boss.updateQueue(queues.searchIndex.name, { notify: false })
  const quiet = new PgBoss({ connectionString: service.url, max: 1, migrate: false, supervise: false, schedule: false })
  await quiet.start()
  await sleep(2000)
  await quiet.send(queues.searchIndex.name, {})
  await quiet.stop({ graceful: false })
  await until(async () => starts.length === 2)
  t.ok((starts[1]?.late ?? 0) <= 2 * backstopSeconds, `${starts[1]?.late} s late`)
})

t.test('jobs that were held up while the connections of pg-boss were lost start when it is back', async (t) => {
  const service = await startTestService(t)
  const starts = await workOn(t, service, { failures: 0 })
  await service.database.query(sql.unsafe`
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE application_name = 'svc-worker' AND datname = current_database()`)
  await service.service.jobs.boss.send(queues.searchIndex.name, {})
  await until(async () => starts.length === 1)
  t.ok((starts[0]?.late ?? 0) < 2 * backstopSeconds, `${starts[0]?.late} s late`)
})

t.test('what looking after jobs costs does not grow with those that are behind', async (t) => {
  const service = await startTestService(t)
  const few = await readRows(service, 10)
  const many = await readRows(service, 50_000)
  t.comment(JSON.stringify({ few, many }))
  for (const [what, { sequential, byIndex }] of Object.entries(many)) {
    t.equal(sequential, 0, `${what} reads no table to its end`)
    t.ok(byIndex <= (few[what]?.byIndex ?? 0) + 10, `${what} reads ${byIndex} rows`)
  }
})

t.test('what earlier versions left in the queue goes, and only what nobody can ask for', async (t) => {
  const service = await startTestService(t)
  const { database } = service
  await database.query(sql.unsafe`
    INSERT INTO pgboss.job (name, state, policy, data, deletion_seconds, created_on, completed_on)
    SELECT ${queues.searchIndex.name}, 'completed', 'singleton', '{}', 3600, now() - interval '2 hours',
      now() - interval '2 hours'
    FROM generate_series(1, 2500)`)
  await database.query(sql.unsafe`
    INSERT INTO pgboss.job (name, data, deletion_seconds, source_name)
    VALUES (${deadLetterOf(queues.searchIndex)}, '{}', 2592000, ${queues.searchIndex.name})`)
  await startWorkers(t, service, [retentionSweep])
  await service.service.jobs.boss.send(queues.sweepRetention.name, {})
  const left = () =>
    database.anyFirst(sql.type(row(Type.Object({ name: Type.String() })))`
      SELECT name FROM pgboss.job WHERE name <> ${queues.sweepRetention.name}`)
  await until(async () => (await left()).length === 1)
  t.strictSame(await left(), [deadLetterOf(queues.searchIndex)])
})

type Start = { attempt: number; late: number }

/** Runs the jobs of a queue, fails the first attempts, and tells how long after its due time each attempt started. */
async function workOn(t: Test, service: TestService, { failures }: { failures: number }): Promise<Start[]> {
  const starts: Start[] = []
  const queue = queues.searchIndex
  const worker = defineWorker({
    queue,
    async run(_runtime, job) {
      const late = await service.database.oneFirst(sql.type(row(Type.Object({ late: Type.Number() })))`
        SELECT extract(epoch FROM started_on - start_after)::float8 AS late FROM pgboss.job WHERE id = ${job.id}`)
      starts.push({ attempt: job.retryCount, late })
      if (starts.length <= failures) throw new Error('out of order')
      return { outcome: 'done' }
    },
  })
  await startWorkers(t, service, [worker])
  return starts
}

/** Counts the transactions of a database, through a connection to another database. */
async function transactionCounter(t: Test, { url }: TestService): Promise<() => Promise<number>> {
  const client = new pg.Client(process.env[serverVariable])
  await client.connect()
  t.teardown(() => client.end())
  return async () => {
    const { rows } = await client.query(
      `SELECT (xact_commit + xact_rollback)::int AS transactions FROM pg_stat_database WHERE datname = $1`,
      [new URL(url).pathname.slice(1)],
    )
    return rows[0].transactions
  }
}

type Read = { sequential: number; byIndex: number }

/** Fills pg-boss's table with `count` finished jobs and five delayed jobs, and counts the rows each statement reads. */
async function readRows({ database }: TestService, count: number): Promise<Record<string, Read>> {
  await database.query(sql.unsafe`DELETE FROM pgboss.job`)
  await database.query(sql.unsafe`
    INSERT INTO pgboss.job (name, state, policy, data, singleton_key, deletion_seconds, started_on, completed_on)
    SELECT (ARRAY['search.index', 'changes.diff', 'summaries.model'])[n % 3 + 1],
      (ARRAY['completed', 'failed']::pgboss.job_state[])[n % 2 + 1], 'singleton', '{"job_id": "gone"}', 'key ' || n, 3600,
      now(), now()
    FROM generate_series(1, ${count}::int) n`)
  await database.query(sql.unsafe`
    INSERT INTO pgboss.job (name, policy, data, singleton_key, start_after)
    SELECT 'search.index', 'singleton', '{}', 'waits ' || n, now() + n * interval '1 minute' FROM generate_series(1, 5) n`)
  await database.query(sql.unsafe`VACUUM ANALYZE pgboss.job_common`)
  const names = Object.values(queues).map(({ name }) => name)
  const statements: Record<string, (tx: Transaction) => Promise<unknown>> = {
    'the look for what is due': (tx) => queueStates(tx, { queues: names, soonSeconds: 5 }),
    metrics: queueLoads,
  }
  const read: Record<string, Read> = {}
  for (const [name, run] of Object.entries(statements)) {
    read[name] = await inTransaction(database, async (tx) => {
      const before = await rowsRead(tx)
      await run(tx)
      const after = await rowsRead(tx)
      return { sequential: after.sequential - before.sequential, byIndex: after.byIndex - before.byIndex }
    })
  }
  return read
}

function rowsRead(tx: Transaction): Promise<Read> {
  return tx.one(sql.type(row(Type.Object({ sequential: Type.Number(), byIndex: Type.Number() })))`
    SELECT seq_tup_read AS sequential, idx_tup_fetch AS "byIndex" FROM pg_stat_xact_user_tables
    WHERE schemaname = 'pgboss' AND relname = 'job_common'`)
}
