import pg from 'pg'
import root from 'tap'
import { createTestDatabase, type TestDatabase } from './postgres.ts'

let database: Promise<TestDatabase> | undefined

/** The URL of the database that the files of a lane share. It is created for the first file that asks for it. */
export async function sharedDatabase(): Promise<string> {
  database ??= createTestDatabase().then((created) => {
    root.teardown(created.drop)
    return created
  })
  return (await database).url
}

/**
 * The number of rows of each workspace in each table of the shared database, and the last transaction that wrote one.
 * A test file must not change the workspaces of the files before it.
 */
export async function workspaceDigests(): Promise<ReadonlyMap<string, string>> {
  return database === undefined ? new Map() : digestsOf((await database).url)
}

async function digestsOf(url: string): Promise<ReadonlyMap<string, string>> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    const { rows: tables } = await client.query<{ name: string }>(`
      SELECT format('%I', table_name) AS name FROM information_schema.columns
      JOIN information_schema.tables USING (table_schema, table_name)
      WHERE table_schema = 'public' AND column_name = 'workspace_id' AND table_type = 'BASE TABLE'`)
    const digests = tables.map(
      ({ name }) => `
      SELECT workspace_id, '${name}' AS name, count(*) || ' ' || max(xmin::text::bigint) AS digest FROM ${name} AS rows GROUP BY 1`,
    )
    const { rows } = await client.query<{ workspace_id: string; digest: string }>(`
      SELECT workspace_id, string_agg(name || ' ' || digest, ', ' ORDER BY name) AS digest
      FROM (${digests.join(' UNION ALL ')}) AS digests WHERE workspace_id IS NOT NULL GROUP BY 1`)
    return new Map(rows.map(({ workspace_id, digest }) => [workspace_id, digest]))
  } finally {
    await client.end()
  }
}
