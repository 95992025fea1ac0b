import { runner } from 'node-pg-migrate'
import { migrationDirectory } from './migration-files.ts'
import { installQueues } from './queues.ts'

/**
 * Brings a database to the current schema: the numbered files of `sql/`, each in a transaction of its own together
 * with its entry in `schema_migrations`, then pg-boss's schema and our queues. Hosts that start at once wait for each
 * other on an advisory lock; a run that is cut off leaves whole migrations behind and the next one goes on from there.
 * `log` gets a line for each migration that was applied, and a last one.
 */
export async function migrate(options: { url: string; log?: (line: string) => void }): Promise<void> {
  const { log = () => {} } = options
  const applied = await runner({
    databaseUrl: options.url,
    dir: migrationDirectory,
    direction: 'up',
    migrationsTable: 'schema_migrations',
    advisoryLockMode: 'wait',
    logger: { info: () => {}, warn: log, error: log },
  })
  for (const { name } of applied) log(`applied ${name}`)
  await installQueues(options.url)
  log('the database is up to date')
}
