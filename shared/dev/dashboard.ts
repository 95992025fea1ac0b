import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { PgBoss } from 'pg-boss'
import { readConfig } from '../config.ts'
import { databaseUrlBesideService } from './database-url.ts'
import { signalledOnParentDeath } from './parent-death.ts'

/*
 * `npm run dashboard [-- port]`: pg-boss's own dashboard on the service's queue, beside a running service, for this
 * machine alone (it has no accounts). All its other settings are environment variables of its own. The counts that it
 * shows of each queue are those of pg-boss's supervision, which workers do without, so it runs here as long.
 */

const url = databaseUrlBesideService(readConfig())
const port = process.argv[2] ?? '3001'
const [command = '', ...words] = [...signalledOnParentDeath('TERM'), 'pg-boss-dashboard']
const env = { HOST: '127.0.0.1', ...process.env, NODE_ENV: 'production', DATABASE_URL: url, PORT: port }
const dashboard = spawn(command, words, { stdio: 'inherit', env })
const ended = once(dashboard, 'exit')
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => dashboard.kill(signal))
const intervals = { superviseIntervalSeconds: 5, monitorIntervalSeconds: 5 }
const boss = new PgBoss({
  connectionString: url,
  max: 1,
  migrate: false,
  schedule: false,
  reindex: false,
  ...intervals,
})
boss.on('error', (error) => process.stderr.write(`${error.message}\n`))
await boss.start()
process.exitCode = (await ended)[0] ?? 0
await boss.stop({ graceful: false })
