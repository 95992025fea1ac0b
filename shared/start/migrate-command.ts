import { readConfig } from '../config/config.ts'
import { migrate } from '../migrations/migrations.ts'
import { runCommandLine } from '../process/command-line.ts'
import { databaseUrlBesideService } from './database-url.ts'

const usage = `usage: npm run migrate

Brings the database of DATABASE_URL, or that of a running npm start, up to date: tables and job queues. It is safe to run
twice, and from several hosts at once.

Exit codes: 0 up to date, 1 it failed, 2 the command line makes no sense.`

await runCommandLine({ usage, options: {} }, async () => {
  const url = databaseUrlBesideService(readConfig())
  await migrate({ url, log: (line) => process.stdout.write(`${line}\n`) })
})
