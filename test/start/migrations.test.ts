import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { PgBoss } from 'pg-boss'
import { migrationNames } from '../../shared/migrations/migration-files.ts'
import { migrate } from '../../shared/migrations/migrations.ts'
import { startEmbeddedPostgres } from '../../shared/start/embedded-postgres.ts'
import { Client } from '../support/client.ts'
import { createBareDatabase, createTestDatabase } from '../support/postgres.ts'
import { startApi, startProcess, startWorker } from '../support/processes.ts'
import { onlyLong } from '../support/run-options.ts'
import { bootstrapToken } from '../support/site.ts'
import { type Test, t } from '../support/tap.ts'

const debianPostgres = '/usr/lib/postgresql/15/bin'

t.test('migrations are numbered without a gap, so that two branches cannot add the same one unseen', async (t) => {
  const numbers = migrationNames().map((name) => name.slice(0, 5))
  const expected = numbers.map((_, index) => `${String(index + 1).padStart(4, '0')}-`)
  t.same(numbers, expected)
})

t.test('two hosts that migrate at once leave one complete schema', async (t) => {
  const { url, client } = await bareDatabase(t)
  const hosts = [migrateCommand(url), migrateCommand(url)]
  for (const host of hosts) t.equal(await host.ended, 0, 'it ended well', { output: host.output() })
  t.same(await schemaOf(client), await expectedSchema(t))
  t.same(await applied(client), migrationNames(), 'every migration ran once')
})

t.test('two hosts that upgrade at once leave nothing of a queue that no worker takes from any more', async (t) => {
  const { url, drop } = await createTestDatabase()
  t.teardown(drop)
  const client = await connect(t, url)
  const before = await schemaOf(client)
  const boss = new PgBoss({ connectionString: url, max: 1, supervise: false, schedule: false })
  await boss.start()
  await boss.createQueue('sweep.document-counts')
  await boss.schedule('sweep.document-counts', '*/5 * * * *')
  await boss.send('sweep.document-counts', {})
  await boss.stop({ graceful: false })
  await Promise.all([migrate({ url }), migrate({ url })])
  const { rows } = await client.query("SELECT name FROM pgboss.queue WHERE name LIKE '%document-counts%'")
  t.same(rows, [])
  t.same(await schemaOf(client), before, 'and nothing else has changed')
})

t.test('whoever migrates a database that is not there reads one line that names the setting', async (t) => {
  const host = migrateCommand('postgres://ada:secret@127.0.0.1:1/documents')
  t.equal(await host.ended, 1)
  const line =
    'DATABASE_URL postgres://ada:***@127.0.0.1:1/documents cannot be reached: connect ECONNREFUSED 127.0.0.1:1\n'
  t.equal(host.output(), line)
})

t.test('a migration that is killed half-way is completed by the next run', onlyLong, async (t) => {
  const { url, client } = await bareDatabase(t)
  // The first table is in the middle of our first file, the next in a later file, the last in pg-boss's own schema.
  for (const table of ['public.memberships', 'public.documents', 'pgboss.job']) {
    const gate = await holdBack(client, table)
    const host = migrateCommand(url)
    await gate.reached()
    host.signal('SIGKILL')
    t.equal(await host.ended, null, `killed while it creates ${table}`)
    await gate.cutOff()
    t.notOk(await exists(client, table), 'what was under way is rolled back')
  }
  t.equal(await migrateCommand(url).ended, 0)
  t.same(await schemaOf(client), await expectedSchema(t))
  t.same(await applied(client), migrationNames())
})

t.test(
  'a site on PostgreSQL 15 has the whole service: it migrates, writes and finds',
  { skip: onlyLong.skip || (!existsSync(debianPostgres) && `${debianPostgres} does not exist`) },
  async (t) => {
    const directory = mkdtempSync(join(tmpdir(), 'documents-postgres-15-'))
    const settings = { fsync: 'off', synchronous_commit: 'off' }
    const postgres = await startEmbeddedPostgres({ directory, settings, binaries: debianPostgres })
    t.teardown(async () => {
      await postgres.stop()
      rmSync(directory, { recursive: true, force: true })
    })
    const env = { DATABASE_URL: postgres.url, DATA_DIR: directory, LOG_LEVEL: 'info' }
    const migration = migrateCommand(postgres.url)
    t.equal(await migration.ended, 0, 'it migrates', { output: migration.output() })
    const api = await startApi(env)
    t.teardown(api.stop)
    const worker = await startWorker(['*'], env)
    t.teardown(worker.stop)

    const client = new Client({ origin: api.origin, token: await bootstrapToken(env) })
    const { body: knowledgeBase } = await client.post('/knowledge-bases', { name: 'Elephants' })
    const content = { format: 'markdown', content: '# Trunk\n\nIt drinks **fourteen** litres.' }
    const created = await client.post('/documents', {
      title: 'Elephant',
      knowledge_base_id: knowledgeBase.data.id,
      content,
    })
    t.equal(created.status, 201, 'it writes', { answer: created.text })
    const found = await firstHit(client, 'fourteen litres')
    t.match(found, { document_id: created.body.data.id, freshness: 'current' })
  },
)

// biome-ignore lint/suspicious/noExplicitAny: the envelope is looked at as a client would
async function firstHit(client: Client, query: string): Promise<any> {
  for (;;) {
    const { status, text, body } = await client.get(`/search/v2?q=${encodeURIComponent(query)}`)
    if (status !== 200) throw new Error(`${status} ${text}`)
    if (body.data.results.length > 0) return body.data.results[0]
    await sleep(50)
  }
}

async function bareDatabase(t: Test) {
  const { url, drop } = await createBareDatabase()
  t.teardown(drop)
  return { url, client: await connect(t, url) }
}

// tap runs teardowns in reverse order: the connection ends before its database is dropped.
async function connect(t: Test, url: string): Promise<pg.Client> {
  const client = new pg.Client(url)
  await client.connect()
  t.teardown(() => client.end())
  return client
}

function migrateCommand(url: string) {
  return startProcess('shared/start/migrate-command.ts', { env: { DATABASE_URL: url, DATA_DIR: tmpdir() } })
}

/** Stops the statement that creates the table in its middle, until its connection is cut. */
async function holdBack(client: pg.Client, table: string) {
  await client.query(`
    CREATE FUNCTION gate() RETURNS event_trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF EXISTS (SELECT FROM pg_event_trigger_ddl_commands() WHERE object_identity = '${table}') THEN
        PERFORM pg_advisory_xact_lock(${gateKey});
      END IF;
    END $$;
    CREATE EVENT TRIGGER gate ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION gate();
    SELECT pg_advisory_lock(${gateKey})`)
  return {
    async reached() {
      while ((await count(client, waiting)) === 0) await sleep(20)
    },
    async cutOff() {
      await client.query(`SELECT pg_terminate_backend(pid) ${waiting}`)
      while ((await count(client, others)) > 0) await sleep(20)
      await client.query(`SELECT pg_advisory_unlock(${gateKey})`)
      await client.query('DROP EVENT TRIGGER gate; DROP FUNCTION gate()')
    },
  }
}

const gateKey = 815
const waiting = `FROM pg_locks WHERE locktype = 'advisory' AND objid = ${gateKey} AND NOT granted`
const others = `
  FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`

async function count(client: pg.Client, rows: string): Promise<number> {
  return (await client.query(`SELECT ${rows}`)).rowCount ?? 0
}

async function exists(client: pg.Client, table: string): Promise<boolean> {
  const { rows } = await client.query('SELECT to_regclass($1) IS NOT NULL AS found', [table])
  return rows[0].found
}

async function applied(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query('SELECT name FROM schema_migrations ORDER BY id')
  return rows.map(({ name }) => name)
}

async function expectedSchema(t: Test) {
  const { url, drop } = await createTestDatabase()
  t.teardown(drop)
  return schemaOf(await connect(t, url))
}

/** All columns, indexes, constraints and queues, without pg-boss's partitions: it adds one each day at midnight. */
async function schemaOf(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query(`
    SELECT line FROM (
      SELECT concat_ws(' ', 'column', attrelid::regclass, attname, format_type(atttypid, atttypmod), attnotnull) AS line
      FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
      WHERE relnamespace IN ('public'::regnamespace, 'pgboss'::regnamespace) AND attnum > 0 AND NOT attisdropped
      UNION ALL
      SELECT concat_ws(' ', 'index', indexdef) FROM pg_indexes WHERE schemaname IN ('public', 'pgboss')
      UNION ALL
      SELECT concat_ws(' ', 'constraint', conrelid::regclass, conname, pg_get_constraintdef(oid)) FROM pg_constraint
      WHERE connamespace IN ('public'::regnamespace, 'pgboss'::regnamespace)
      UNION ALL
      SELECT concat_ws(' ', 'queue', name, policy, dead_letter, retry_limit) FROM pgboss.queue
    ) AS lines
    WHERE line !~ 'queue_stats_[0-9]{8}' ORDER BY line`)
  return rows.map(({ line }) => line)
}
