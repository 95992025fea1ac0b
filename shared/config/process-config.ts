import { type Config, ConfigError, readConfig } from './config.ts'

/**
 * The configuration of a process that needs the database. A wrong or missing setting ends it at once with one line for
 * each and an exit code of 1; a stack would say nothing more to an operator.
 */
export function processConfig(): Config {
  try {
    const config = readConfig()
    if (config.DATABASE_URL !== '') return config
    throw new ConfigError('DATABASE_URL is not set; `npm start` brings its own database')
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    process.stderr.write(`${error.message}\n`)
    process.exit(1)
  }
}
