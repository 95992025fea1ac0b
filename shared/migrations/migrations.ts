import { runner } from 'node-pg-migrate'
import { withSilenceSettings } from '../database/time-limits.ts'
import { installQueues } from '../jobs/install.ts'
import { migrationDirectory } from './migration-files.ts'

/**
 * Brings a database to the current schema. First come the numbered files of `sql/`, each in one transaction with its
 * entry in `schema_migrations`; then pg-boss's schema and our queues. Hosts that start at the same time wait for each
 * other on an advisory lock. An interrupted run leaves whole migrations behind, and the next run continues after them.
 * `log` gets a line for each applied migration and a last line. Throws when the database is out of reach or a file
 * fails.
 */
export async function migrate(options: { url: string; log?: (line: string) => void }): Promise<void> {
  const { log = () => {} } = options
  // Other hosts wait for the locks of this session, so PostgreSQL has to end the session soon after the network falls
  // silent.
  const url = withSilenceSettings({ url: options.url })
  const applied = await runner({
    databaseUrl: url,
    dir: migrationDirectory,
    direction: 'up',
    migrationsTable: 'schema_migrations',
    advisoryLockMode: 'wait',
    logger: { info: () => {}, warn: log, error: log },
  })
  for (const { name } of applied) log(`applied ${name}`)
  await installQueues(url)
  log('the database is up to date')
}
