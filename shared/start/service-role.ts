import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { migrationDirectory } from '../migrations/migration-files.ts'
import { passwordOf, type Role, urlOf } from './postgres-cluster.ts'

const ownership = join(migrationDirectory, 'embedded/owner.sql')

/**
 * Makes sure that the service has a role of its own in the running cluster of `directory`, and returns the URL under
 * which the service uses it. The role owns the database and everything in it, but is no superuser: whoever speaks to
 * PostgreSQL in its name can neither read files of the machine nor start programs. Doing it again changes nothing.
 */
export async function serviceUrlOf(directory: string, port: number): Promise<string> {
  const password = await passwordOf(directory, serviceRole)
  const client = new pg.Client(urlOf(directory, { port, role: 'postgres' }))
  await client.connect()
  try {
    await client.query(await readFile(ownership, 'utf8'))
    await client.query(`ALTER ROLE ${serviceRole} PASSWORD ${pg.escapeLiteral(password)}`)
  } finally {
    await client.end()
  }
  return urlOf(directory, { port, role: serviceRole })
}

const serviceRole: Role = 'documents'
