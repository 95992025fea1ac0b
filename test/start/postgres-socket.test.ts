import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import Type from 'typebox'
import { databaseAddress } from '../../shared/config/database-address.ts'
import { openDatabase, sql } from '../../shared/database/database.ts'
import { row } from '../../shared/database/row.ts'
import { openSession } from '../../shared/database/session.ts'
import { startEmbeddedPostgres } from '../../shared/start/embedded-postgres.ts'
import { freePort } from '../../shared/start/processes.ts'
import { createBareDatabase } from '../support/postgres.ts'
import { type Test, t } from '../support/tap.ts'

const settings = { fsync: 'off' }
const isSocket = 'SELECT client_addr IS NULL AS local FROM pg_stat_activity WHERE pid = pg_backend_pid()'
const LocalRow = row(Type.Object({ local: Type.Boolean() }))

t.test('the processes of the service use a Unix socket, and 127.0.0.1 answers all the same', async (t) => {
  const directory = temporary(t)
  const stale = join(directory, 'postgres', '.s.PGSQL.1')
  const first = await startEmbeddedPostgres({ directory, settings })
  await first.stop()
  for (const file of [stale, `${stale}.lock`]) writeFileSync(file, '')
  const postgres = await startEmbeddedPostgres({ directory, settings })
  t.teardown(postgres.stop)
  const database = await openDatabase({ url: postgres.localUrl, poolSize: 1 })
  t.teardown(() => database.end())
  t.equal(
    await database.oneFirst(
      sql.type(LocalRow)`SELECT client_addr IS NULL AS local FROM pg_stat_activity WHERE pid = pg_backend_pid()`,
    ),
    true,
    'the pool',
  )
  t.equal(await isLocal(openSession({ url: postgres.localUrl, name: 'test' })), true, 'and single connections')
  t.equal(await isLocal(new pg.Client(postgres.url)), false)
  t.notOk(existsSync(stale), 'the socket of a server that was killed is gone')
})

t.test('where the path of a socket would be too long, PostgreSQL starts without one', async (t) => {
  const directory = join(temporary(t), 'a-long-name'.repeat(10))
  mkdirSync(directory)
  const postgres = await startEmbeddedPostgres({ directory, settings })
  t.teardown(postgres.stop)
  t.equal(postgres.localUrl, postgres.url)
  t.equal(await isLocal(new pg.Client(postgres.url)), false)
})

t.test(
  'only a process that really runs keeps others from the folder, and settings of the database change no value',
  async (t) => {
    const directory = temporary(t)
    const first = await startEmbeddedPostgres({ directory, settings })
    await t.rejects(startEmbeddedPostgres({ directory, settings }), /is in use, process \d+ already runs/)
    const superuser = new pg.Client(first.superuserUrl)
    await superuser.connect()
    await superuser.query(`
    ALTER DATABASE postgres SET datestyle = 'German, DMY';
    ALTER ROLE documents SET standard_conforming_strings = off;
    ALTER ROLE documents SET search_path = app`)
    await superuser.end()
    const url = new URL(first.url)
    url.searchParams.set('options', '-c search_path=app')
    const session = openSession({ url: url.href, name: 'test' })
    await session.connect()
    const { rows } = await session.query(`
    SELECT current_setting('datestyle') AS style, '\\' AS sign, current_setting('search_path') AS path`)
    t.same(rows, [{ style: 'ISO, MDY', sign: '\\', path: 'public' }])
    await session.end()
    await first.stop()

    const pidFile = join(directory, 'postgres', 'postmaster.pid')
    const port = await freePort({ host: '127.0.0.1' })
    for (const file of [pidFile, join(directory, 'postgres', `.s.PGSQL.${port}.lock`)]) {
      writeFileSync(file, `${process.pid}\n${directory}\n1\n${port}\n\n\n\nready\n`)
    }
    const second = await startEmbeddedPostgres({ directory, settings, port })
    await second.stop()
    rmSync(join(directory, 'postgres.password'))
    await t.rejects(startEmbeddedPostgres({ directory, settings }), { code: 'ENOENT' })
    t.notOk(existsSync(pidFile), 'PostgreSQL was stopped')
  },
)

t.test('every form of an address that libpq takes leads to the same server', async (t) => {
  const forms = {
    'postgres://u:p@[::1]:5433/db': 'postgres://u:p@%3A%3A1:5433/db',
    'postgres://u:p@/db?host=/run/pg&port=5433': 'postgres://u:p@%2Frun%2Fpg:5433/db',
    'postgres:///db?host=/run/pg': 'postgres://%2Frun%2Fpg/db',
    'postgres://u@%2Frun%2Fpg/db': 'postgres://u@%2Frun%2Fpg/db',
    'postgresql://?user=a&password=b%2F&dbname=c&host=::1': 'postgresql://a:b%2F@%3A%3A1/c',
    'postgres://h/db?sslmode=verify-full&sslrootcert=/x': 'postgres://h/db?sslmode=require&sslrootcert=%2Fx',
    'postgres://h/db?ssl=true': 'postgres://h/db?sslmode=require',
    'postgres://h/db?sslmode=prefer': 'postgres://h/db?sslmode=disable',
  }
  for (const [given, address] of Object.entries(forms)) t.equal(databaseAddress(given), address)
  for (const wrong of ['postgres://h/db?sslmode=bogus', 'postgres://a,b/db']) t.throws(() => databaseAddress(wrong))
  const { url, drop } = await createBareDatabase()
  t.teardown(drop)
  const preferred = new URL(url)
  preferred.searchParams.set('sslmode', 'prefer')
  const database = await openDatabase({ url: preferred.href, poolSize: 1 })
  t.equal(await database.oneFirst(sql.type(LocalRow)`SELECT true AS local`), true)
  await database.end()
})

async function isLocal(client: pg.Client): Promise<boolean> {
  await client.connect()
  try {
    const { rows } = await client.query(isSocket)
    return rows[0].local
  } finally {
    await client.end()
  }
}

function temporary(t: Test): string {
  const directory = mkdtempSync(join(tmpdir(), 'documents-socket-'))
  t.teardown(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}
