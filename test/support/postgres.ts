import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { migrate } from '../../shared/migrations/migrations.ts'

/** The environment variable by which `npm test` passes the URL of PostgreSQL to the test files. */
export const serverVariable = 'TEST_POSTGRES_URL'

const template = 'template_documents'

/** A database of one test file. `drop` also ends its remaining connections. */
export interface TestDatabase {
  readonly url: string
  drop(): Promise<void>
}

/** Creates a migrated database without data. It copies the template of the run, which takes about 150 ms. */
export function createTestDatabase(): Promise<TestDatabase> {
  return createDatabase(template)
}

/** Creates a database without tables, like that of a new installation. */
export function createBareDatabase(): Promise<TestDatabase> {
  return createDatabase('template1')
}

/** Creates a copy of a database to which nobody is connected. */
export function copyDatabase(url: string): Promise<TestDatabase> {
  return createDatabase(new URL(url).pathname.slice(1))
}

async function createDatabase(copied: string): Promise<TestDatabase> {
  const server = process.env[serverVariable]
  if (!server) throw new Error('Tests need the PostgreSQL of a run: npm test -- test/name.test.ts')
  const name = `test_${process.pid}_${randomBytes(4).toString('hex')}`
  // The strategy `wal_log` would write each copy twice.
  await execute(server, `CREATE DATABASE ${name} TEMPLATE ${copied} STRATEGY file_copy`)
  return { url: databaseUrl(server, name), drop: () => execute(server, `DROP DATABASE ${name} WITH (FORCE)`) }
}

/** Creates and migrates the template for `createTestDatabase`, once per run. */
export async function createTemplate(server: string): Promise<void> {
  // The password again, with the cheap hash of the run's settings: each connection costs its client a few milliseconds
  // otherwise.
  await execute(server, `ALTER ROLE CURRENT_USER PASSWORD ${pg.escapeLiteral(new URL(server).password)}`)
  await execute(server, `CREATE DATABASE ${template}`)
  await migrate({ url: databaseUrl(server, template) })
}

function databaseUrl(server: string, name: string): string {
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}

async function execute(server: string, statement: string): Promise<void> {
  const client = new pg.Client(server)
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
