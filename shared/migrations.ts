import { runner } from 'node-pg-migrate'
import { migrationDirectory } from './migration-files.ts'
import { installQueues } from './queues.ts'
import { withSilenceSettings } from './time-limits.ts'

/**
 * Brings a database to the current schema: the numbered files of `sql/`, each in a transaction of its own together
 * with its entry in `schema_migrations`, then pg-boss's schema and our queues. Hosts that start at once wait for each
 * other on an advisory lock; a run that is cut off leaves whole migrations behind and the next one goes on from there.
 */
export async function migrate(options: { url: string; log?: (line: string) => void }): Promise<void> {
  const { log = () => {} } = options
  // Other hosts wait for the locks of this one: PostgreSQL drops it soon when its network falls silent.
  const url = withSilenceSettings(options.url)
  await runner({
    databaseUrl: url,
    dir: migrationDirectory,
    direction: 'up',
    migrationsTable: 'schema_migrations',
    advisoryLockMode: 'wait',
    logger: { info: log, warn: log, error: log },
  })
  await installQueues(url)
}
