import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { migrate } from '../../shared/migrations/migrations.ts'

/** The environment variable through which `npm test` tells the test files where their PostgreSQL is. */
export const serverVariable = 'TEST_POSTGRES_URL'

const template = 'template_documents'

/** A database of a test file's own; `drop` ends the connections that are left. */
export interface TestDatabase {
  readonly url: string
  drop(): Promise<void>
}

/** Creates a migrated database without data within some 150 ms by copying the template of the run. */
export function createTestDatabase(): Promise<TestDatabase> {
  return createDatabase(template)
}

/** Creates a database without any table, as an operator hands it over. */
export function createBareDatabase(): Promise<TestDatabase> {
  return createDatabase('template1')
}

async function createDatabase(copied: string): Promise<TestDatabase> {
  const server = process.env[serverVariable]
  if (!server) throw new Error('Tests need the PostgreSQL of a run: npm test -- test/name.test.ts')
  const name = `test_${process.pid}_${randomBytes(4).toString('hex')}`
  // Written through the log, each copy would be twice as much to write.
  await execute(server, `CREATE DATABASE ${name} TEMPLATE ${copied} STRATEGY file_copy`)
  return {
    url: databaseUrl(server, name),
    drop: () => execute(server, `DROP DATABASE ${name} WITH (FORCE)`),
  }
}

/** Creates and migrates the database that `createTestDatabase` copies; once per run. */
export async function createTemplate(server: string): Promise<void> {
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
