import pg from 'pg'
import { causesOf } from './causes.ts'
import { runCommandLine } from './command-line.ts'
import { readConfig } from './config.ts'
import { withoutPassword } from './database-watch.ts'
import { databaseUrlBesideService } from './dev/database-url.ts'
import { migrate } from './migrations.ts'
import { withSilenceSettings } from './time-limits.ts'

const usage = `usage: npm run migrate

Brings the database of DATABASE_URL, or that of a running npm start, up to date: tables and job queues. It is safe to run
twice, and from several hosts at once.

Exit codes: 0 up to date, 1 it failed, 2 the command line makes no sense.`

await runCommandLine({ usage, options: {} }, async () => {
  const url = databaseUrlBesideService(readConfig())
  await requireDatabase(url)
  await migrate({ url, log: (line) => process.stdout.write(`${line}\n`) })
})

// Whoever forgot to start the database, or mistyped its address, needs no stack trace.
async function requireDatabase(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: withSilenceSettings(url), connectionTimeoutMillis: 10_000 })
  try {
    await client.connect()
    await client.end()
  } catch (cause) {
    const address = withoutPassword(url)
    throw new Error(`DATABASE_URL ${address} cannot be reached: ${causesOf(cause).join(': ')}`, { cause })
  }
}
