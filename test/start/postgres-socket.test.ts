import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import Type from 'typebox'
import { openDatabase, sql } from '../../shared/database/database.ts'
import { row } from '../../shared/database/row.ts'
import { openSession } from '../../shared/database/session.ts'
import { startEmbeddedPostgres } from '../../shared/start/embedded-postgres.ts'
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
