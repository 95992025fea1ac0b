import { runner } from 'node-pg-migrate'
import { withSilenceSettings } from '../database/time-limits.ts'
import { installQueues } from '../jobs/install.ts'
import { migrationDirectory } from './migration-files.ts'

/**
 * Brings a database to the current schema: the numbered files of `sql/`, each in a transaction of its own together
 * with its entry in `schema_migrations`, then pg-boss's schema and our queues. Hosts that start at once wait for each
 * other on an advisory lock; a run that is cut off leaves whole migrations behind and the next one goes on from there.
 * `log` gets a line for each migration that was applied, and a last one.
 */
export async function migrate(options: { url: string; log?: (line: string) => void }): Promise<void> {
  const { log = () => {} } = options
  // Other hosts wait for the locks of this one: PostgreSQL drops it soon when its network falls silent.
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
