import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readConfig } from '../config.ts'
import { databaseUrlBesideService } from './database-url.ts'
import { signalledOnParentDeath } from './parent-death.ts'

/*
 * `npm run dashboard [-- port]`: pg-boss's own dashboard on the service's queue, beside a running service, for this
 * machine alone (it has no accounts). All its other settings are environment variables of its own.
 */

const url = databaseUrlBesideService(readConfig())
const port = process.argv[2] ?? '3001'
const [command = '', ...words] = [...signalledOnParentDeath('TERM'), 'pg-boss-dashboard']
const env = { ...process.env, HOST: '127.0.0.1', NODE_ENV: 'production', DATABASE_URL: url, PORT: port }
const dashboard = spawn(command, words, { stdio: 'inherit', env })
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => dashboard.kill(signal))
process.exitCode = (await once(dashboard, 'exit'))[0] ?? 0
