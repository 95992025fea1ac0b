import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { PgBoss } from 'pg-boss'
import { readConfig } from '../config/config.ts'
import { runCommandLine, UsageError } from '../process/command-line.ts'
import { databaseUrlBesideService } from './database-url.ts'
import { signalledOnParentDeath } from './parent-death.ts'

const usage = `usage: npm run dashboard [-- PORT]

Serves pg-boss's dashboard of the job queues on http://localhost:PORT, 3001 unless named, beside a running service. It is
for this machine alone, since it has no accounts. Its other settings are environment variables of its own.

Exit codes: 0 it was stopped, 1 it failed, 2 the command line makes no sense.`

await runCommandLine({ usage, options: {}, words: { least: 0, most: 1 } }, async ({ words: [port = '3001'] }) => {
  if (!/^[0-9]{1,5}$/.test(port)) throw new UsageError('PORT is a number')
  const url = databaseUrlBesideService(readConfig())
  const [command = '', ...words] = [...signalledOnParentDeath('TERM'), 'pg-boss-dashboard']
  // The dashboard has no accounts, so HOST of the service must not open it to others.
  const env = { ...process.env, HOST: '127.0.0.1', NODE_ENV: 'production', DATABASE_URL: url, PORT: port }
  const dashboard = spawn(command, words, { stdio: 'inherit', env })
  const ended = once(dashboard, 'exit')
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => dashboard.kill(signal))
  const counting = await countQueues(url)
  process.exitCode = (await ended)[0] ?? 0
  await counting.stop({ graceful: false })
})

// The counts that the dashboard shows are those of pg-boss's supervision, which workers do without: it runs here as long.
async function countQueues(connectionString: string): Promise<PgBoss> {
  const intervals = { superviseIntervalSeconds: 5, monitorIntervalSeconds: 5 }
  const boss = new PgBoss({ connectionString, max: 1, migrate: false, schedule: false, reindex: false, ...intervals })
  boss.on('error', (error) => process.stderr.write(`${error.message}\n`))
  await boss.start()
  return boss
}
