import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { PgBoss } from 'pg-boss'
import { inTransaction, sql } from '../../shared/database/database.ts'
import { scheduleAgain } from '../../shared/jobs/projections/stale.ts'
import { deadLetterOf, largeOf, projections, queues } from '../../shared/jobs/queues.ts'
import { migrate } from '../../shared/migrations/migrations.ts'
import { workersOf } from '../../workers/types.ts'
import { startModelStub } from '../support/model-stub.ts'
import { createBareDatabase, createTestDatabase } from '../support/postgres.ts'
import { searchV2 } from '../support/search.ts'
import { startTestService } from '../support/service.ts'
import { until } from '../support/site.ts'
import { type Test, t } from '../support/tap.ts'
import { startWorkers, untilFresh, write } from '../support/workers.ts'

t.test('the schema of the job queue is what pg-boss makes, so pg-boss can upgrade it', async (t) => {
  const ours = await connect(t, await createTestDatabase())
  const fresh = await createBareDatabase()
  const theirs = await connect(t, fresh)
  await (await startBoss(t, fresh.url)).stop({ graceful: false })
  t.strictSame(await objectsOf(ours), await objectsOf(theirs))
})

t.test('no statement of the service writes to the tables of pg-boss, and one file reads them', async (t) => {
  const files = ['api', 'workers', 'shared'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  )
  const naming = files.filter(
    (name) => name.endsWith('.ts') && /\bpgboss\.(job|queue|schedule|version)\b/.test(textOf(name)),
  )
  t.strictSame(naming, ['shared/jobs/reads.ts'])
  t.notMatch(textOf('shared/jobs/reads.ts'), /\b(INSERT INTO|UPDATE|DELETE FROM|LOCK)\b/)
})

t.test('an upgrade takes over the jobs that wait in the queues of the version before', async (t) => {
  const stub = await startModelStub(t)
  stub.answerWith(() => ({ text: 'A summary.' }))
  const service = await startTestService(t, stub.env)
  const ada = await service.signUp()
  const ids: string[] = []
  for (let number = 0; number < 20; number += 1) ids.push((await write(ada, `heron ${number}`)).id)
  const asked = await ada.post(`/documents/${ids[0]}/summary/rebuild`, { generator: 'model' })
  const client = await connect(t, service)
  await downgrade(t, { client, url: service.url, documents: ids, workspaceId: ada.workspace_id })
  const before = await client.query(`SELECT count(*)::int AS count FROM pgboss.job WHERE name = 'search.index'`)
  t.equal(before.rows[0].count, 1000)

  await migrate({ url: service.url })
  const waiting = await client.query(`SELECT count(*)::int AS count FROM pgboss.job WHERE name = 'search.index'`)
  t.equal(waiting.rows[0].count, 1000, 'each of them waits in the new queue')
  const ours = await connect(t, await createTestDatabase())
  t.strictSame(await objectsOf(client), await objectsOf(ours), 'nothing is left of what the version before had added')
  await startWorkers(t, service, workersOf(['search', 'summaries']))
  await untilFresh(ada)
  t.equal((await searchV2(ada, { q: 'heron', limit: 50 })).results.length, 20)
  await until(async () => (await ada.get(`/summary-jobs/${asked.body.data.id}`)).body.data.status === 'succeeded')
  const open = `SELECT FROM pgboss.job WHERE state IN ('created', 'retry', 'active') AND name ~ '^(search|summaries)'`
  await until(async () => (await client.query(open)).rowCount === 0)
})

t.test('jobs that an operator sends again from the dead letters are done', async (t) => {
  const service = await startTestService(t)
  const ada = await service.signUp()
  const { id: document_id } = await write(ada, 'heron')
  const { boss } = service.service.jobs
  const queue = queues.searchIndex
  const [job] = await boss.fetch(queue.name)
  await service.database.query(sql.unsafe`UPDATE pgboss.job SET retry_limit = 0 WHERE name = ${queue.name}`)
  await boss.fail(queue.name, job ? [job] : [], { message: 'out of order' })
  t.equal(await boss.redrive(deadLetterOf(queue)), 1)
  await startWorkers(t, service, workersOf(['search']))
  await untilFresh(ada)
  t.match(await searchV2(ada, { q: 'heron' }), { results: [{ document_id }] })
})

t.test('a document whose large body waits for a worker is found when it was sent to the other queue', async (t) => {
  const service = await startTestService(t)
  const ada = await service.signUp()
  const { id: document_id } = await write(ada, 'heron')
  await service.database.query(sql.unsafe`DELETE FROM pgboss.job`)
  const projection = projections.find(({ queue }) => queue === queues.searchIndex)
  if (projection === undefined) throw new Error('search is a projection')
  const jobs = [{ workspace_id: ada.workspace_id, document_id }]
  await inTransaction(service.database, (tx) =>
    scheduleAgain({ tx, jobs: service.service.jobs }, { projection, jobs, large: true }),
  )
  t.equal((await service.service.jobs.boss.findJobs(largeOf(queues.searchIndex).name)).length, 1)
  await startWorkers(t, service, workersOf(['search']))
  await untilFresh(ada)
  t.match(await searchV2(ada, { q: 'heron' }), { results: [{ document_id }] })
})

/** Brings a database to the state of the version before, with a thousand waiting jobs of the search index. */
async function downgrade(
  t: Test,
  { client, url, documents, workspaceId }: { client: pg.Client; url: string; documents: string[]; workspaceId: string },
): Promise<void> {
  const boss = await startBoss(t, url)
  const [summary] = await boss.findJobs<object>(queues.summariesModel.name)
  for (const queue of Object.values(queues)) {
    if ('projection' in queue) await boss.deleteQueue(largeOf(queue).name)
    if (queue.options.policy !== undefined) continue
    await boss.deleteQueue(queue.name)
    await boss.createQueue(queue.name, { ...queue.options, policy: 'singleton', deadLetter: deadLetterOf(queue) })
  }
  const jobs = Array.from({ length: 1000 }, (_, number) => {
    const document_id = documents[number % documents.length] ?? ''
    return { data: { workspace_id: workspaceId, document_id }, singletonKey: `${document_id} ${number}` }
  })
  await boss.insert(queues.searchIndex.name, jobs)
  await boss.send(queues.summariesModel.name, summary?.data ?? {}, { singletonKey: 'summary' })
  await boss.stop({ graceful: false })
  await client.query(`
    ALTER TABLE stale_projections DROP COLUMN job_id;
    DELETE FROM schema_migrations WHERE name >= '0044';
    CREATE FUNCTION pgboss.announce_job() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
    CREATE TRIGGER job_announced AFTER INSERT OR UPDATE ON pgboss.job_common
      FOR EACH ROW EXECUTE FUNCTION pgboss.announce_job();
    CREATE FUNCTION pgboss.announcement(name text, start_after timestamptz, priority int) RETURNS text
      LANGUAGE sql AS 'SELECT name';
    CREATE FUNCTION pgboss.mark_stale(text, text[], text[], text[], bigint[], int, boolean, boolean) RETURNS void
      LANGUAGE plpgsql AS 'BEGIN END';
    CREATE FUNCTION pgboss.enqueue_documents(text[], text[], text[], int[], boolean, boolean) RETURNS void
      LANGUAGE plpgsql AS 'BEGIN END';
    CREATE FUNCTION pgboss.complete_attempts(text, uuid[], int[], text, text[], text[], boolean[]) RETURNS uuid[]
      LANGUAGE sql AS 'SELECT $2';
    CREATE INDEX job_active_idx ON pgboss.job_common (name) WHERE state = 'active';
    CREATE INDEX job_due_idx ON pgboss.job_common (name, start_after) WHERE state < 'active' AND NOT blocked;
    CREATE INDEX job_deletion_idx ON pgboss.job_common (completed_on);
    CREATE INDEX job_waiting_key_idx ON pgboss.job_common (singleton_key) WHERE state < 'active'`)
}

async function connect(t: Test, { url, drop }: { url: string; drop?: () => Promise<void> }): Promise<pg.Client> {
  const client = new pg.Client(url)
  await client.connect()
  t.teardown(async () => {
    await client.end()
    await drop?.()
  })
  return client
}

async function startBoss(t: Test, url: string): Promise<PgBoss> {
  const boss = new PgBoss({ connectionString: url, max: 1, supervise: false, schedule: false })
  boss.on('error', (error) => t.fail(error.message))
  await boss.start()
  return boss
}

/** All objects of the schema `pgboss`, without the partitions that pg-boss adds each day at midnight. */
async function objectsOf(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query(`
    SELECT line FROM (
      SELECT concat_ws(' ', relkind, relname, attname, format_type(atttypid, atttypmod), attnotnull,
        (SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = attrelid AND adnum = attnum)) AS line
      FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
      WHERE relnamespace = 'pgboss'::regnamespace AND attnum > 0 AND NOT attisdropped
      UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'pgboss'
      UNION ALL SELECT concat_ws(' ', conrelid::regclass, conname, pg_get_constraintdef(oid)) FROM pg_constraint
        WHERE connamespace = 'pgboss'::regnamespace
      UNION ALL SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'pgboss'::regnamespace
      UNION ALL SELECT pg_get_triggerdef(t.oid) FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
        WHERE c.relnamespace = 'pgboss'::regnamespace AND NOT tgisinternal
      UNION ALL SELECT concat_ws(' ', typname, typtype) FROM pg_type WHERE typnamespace = 'pgboss'::regnamespace
    ) AS lines
    WHERE line !~ 'queue_stats_[0-9]{8}' ORDER BY line`)
  return rows.map(({ line }) => line)
}

function textOf(file: string): string {
  return readFileSync(file, 'utf8')
}
