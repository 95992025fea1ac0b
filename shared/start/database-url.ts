import type { Config } from '../config/config.ts'
import { runningEmbeddedPostgres } from './embedded-postgres.ts'

/**
 * The database of a command that is run beside the service: DATABASE_URL, or else the embedded PostgreSQL of an
 * `npm start` that runs in DATA_DIR (decisions 10). Throws when there is neither.
 */
export function databaseUrlBesideService(config: Config): string {
  const url = config.DATABASE_URL || runningEmbeddedPostgres(config.DATA_DIR)
  if (url === undefined) throw new Error('DATABASE_URL is not set and npm start is not running in DATA_DIR')
  return url
}
