import pg from 'pg'
import { readConfig } from '../config/config.ts'
import { chooseTls } from '../config/database-address.ts'
import { withSilenceSettings } from '../database/time-limits.ts'
import { causesOf } from '../errors/causes.ts'
import { withoutPassword } from '../health/database-watch.ts'
import { migrate } from '../migrations/migrations.ts'
import { runCommandLine } from '../process/command-line.ts'
import { databaseUrlBesideService } from './embedded-postgres.ts'

const usage = `usage: npm run migrate

Brings the database of DATABASE_URL, or of a running npm start, up to date: tables and job queues. It is safe to run
twice, and from several hosts at once.

Exit codes: 0 up to date, 1 it failed, 2 the command line makes no sense.`

await runCommandLine({ usage, options: {} }, async () => {
  const url = databaseUrlBesideService(readConfig())
  await requireDatabase(url)
  await migrate({ url, log: (line) => process.stdout.write(`${line}\n`) })
})

// Throws an error whose message is all that an operator needs who forgot to start the database or mistyped its address.
async function requireDatabase(url: string): Promise<void> {
  await chooseTls(url)
  const client = new pg.Client({ connectionString: withSilenceSettings({ url }), connectionTimeoutMillis: 10_000 })
  let encoding: string
  try {
    await client.connect()
    encoding = (await client.query('SHOW server_encoding')).rows[0].server_encoding
    await client.end()
  } catch (cause) {
    const address = withoutPassword(url)
    throw new Error(`DATABASE_URL ${address} cannot be reached: ${causesOf(cause).join(': ')}`, { cause })
  }
  if (encoding !== 'UTF8') throw new Error(`DATABASE_URL: the database has to be in UTF-8, and it is in ${encoding}`)
}
