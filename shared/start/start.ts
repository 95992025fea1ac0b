import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { join, relative, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { collaborationPath } from '../config/collaboration-url.ts'
import { type Config, ConfigError, readConfig } from '../config/config.ts'
import { exitUsage } from '../process/command-line.ts'
import { createProcessLogger } from '../process/log.ts'
import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded-postgres.ts'
import { freePort, joinWorkers, type PrintedLine, parseProcfile, runCommand, startProcess } from './processes.ts'
import { type Part, Supervisor } from './supervisor.ts'

/*
 * `npm start` and `npm run dev` run the whole service. They start PostgreSQL unless DATABASE_URL names one, run the
 * Procfile's release step, and create the owner of an empty database. Then they start every process of the Procfile.
 * The workers share one process unless `--apart` is given. Until the service is ready, anything that fails stops
 * everything. From then on, what ends is restarted (`supervisor.ts`). `--watch` also restarts a process whose sources
 * change.
 *
 * On a terminal, the output is for people. Elsewhere each line is a JSON object, as a log collector wants it.
 */

const usage = `usage: npm start [-- --apart]
       npm run dev [-- --apart]

Runs the whole service: PostgreSQL unless DATABASE_URL names one, migrations, the API, live editing and the workers.
Ctrl-C stops it.

  --apart   each worker type of the Procfile in a process of its own; all of them in one otherwise
  --watch   restarts a process whose source changes, as npm run dev does
  --help    prints this

Exit codes: 0 it was stopped, 1 a part of it failed, 2 the command line makes no sense.`

const root = fileURLToPath(new URL('../..', import.meta.url))
const { watch, apart } = options(process.argv.slice(2))
// The milliseconds that a process has to end after SIGTERM. The collab process first stores every open document.
const drainTime = 6500
const storingTime = 27_000
// Megabytes of a semi-space, of which V8 has three for new objects. V8's default of 16 takes up to 70 MB more a
// process.
const semiSpace = 8

const isTerminal = process.stdout.isTTY
const log = createProcessLogger({ service: 'start', config: { LOG_LEVEL: 'info', LOG_FORMAT: 'auto' } })
const stopped = new AbortController()
let isReady = false
let drainMs = 0
let postgres: EmbeddedPostgres | undefined
let firstSignal = Number.POSITIVE_INFINITY
const supervisor = new Supervisor({
  log,
  stopped: stopped.signal,
  isReady: () => isReady,
  fail: (reason) => fail(`${reason}; stopping everything`),
  onChange: tellApi,
})

process.on('SIGINT', onSignal)
process.on('SIGTERM', onSignal)

try {
  await start(readConfig())
} catch (error) {
  if (!stopped.signal.aborted) fail(error instanceof ConfigError ? error.message : describe(error))
}
await supervisor.stop((name) => (name === 'collab' ? storingTime : drainTime + drainMs), 'postgres')
await postgres?.stop()

async function start(config: Config): Promise<void> {
  const env = await prepare(config)
  const { release, processes: lines } = parseProcfile(readFileSync(join(root, 'Procfile'), 'utf8'))
  const types = apart ? lines : joinWorkers(lines)
  await runCommand({ command: release, env, cwd: root })
  stopped.signal.throwIfAborted()
  const owner = runCommand({ command: 'node shared/auth/bootstrap-command.ts --first-start', env, cwd: root })
  // A failure is met below, together with that of the readiness.
  owner.catch(() => {})
  // Whoever waits for `/readyz` at the first start expects that the owner can sign in.
  if (!existsSync(ownerFile(config))) await owner
  const print = printer(Math.max(...types.map((type) => type.name.length)))
  const workers = types.filter(({ command }) => command.includes('workers/main.ts'))
  for (const type of types) {
    const { name } = type
    const command = watch ? watching(type.command) : type.command
    const own = { ...env, METRICS_PORT: metricsPort(config, workers.indexOf(type)) }
    const begin = () =>
      startProcess({ name, command, env: own, cwd: root, print, hasChannel: name === 'api' && !watch })
    await supervisor.run({ name, begin })
  }
  if (postgres !== undefined) await supervisor.run({ name: 'postgres', begin: postgresPart(config, postgres) })
  // A stop waits for the command, which would otherwise leave an owner whose token nobody has.
  const [printed] = await Promise.all([owner, readiness(env)]).finally(() => owner)
  isReady = true
  announce({ config, origin: env['PUBLIC_ORIGIN'] ?? '', liveAddress: env['COLLAB_URL'] ?? '', owner: printed })
  await new Promise((end) => stopped.signal.addEventListener('abort', end))
}

// Each worker process has a port of its own for its metrics.
function metricsPort({ METRICS_PORT: port }: Config, worker: number): string {
  return String(port === 0 || worker === -1 ? port : port + worker)
}

// PostgreSQL as a part of the service. It is restarted at the port that the other processes know.
function postgresPart(config: Config, first: EmbeddedPostgres): Part['begin'] {
  const directory = resolve(config.DATA_DIR)
  let next: EmbeddedPostgres | null = first
  return async () => {
    const running = next ?? (await startEmbeddedPostgres({ directory, port: Number(new URL(first.url).port) }))
    next = null
    postgres = running
    return {
      name: 'postgres',
      ended: running.exited.then(() => 'ended, see postgres.log'),
      stop: () => running.stop(),
      kill: () => void running.stop(),
      lastLines: () => '',
    }
  }
}

// Prints what a process has printed. Its own lines are JSON already, unless it has crashed.
function printer(width: number): (printed: PrintedLine) => void {
  if (isTerminal) return ({ name, line }) => process.stdout.write(`${name.padEnd(width)} | ${line}\n`)
  return ({ name, line, stream }) => {
    if (line.startsWith('{')) process.stdout.write(`${line}\n`)
    else log.child({ process: name })[stream === 'stdout' ? 'info' : 'error'](line)
  }
}

function tellApi(down: string[]): void {
  supervisor.process('api')?.send?.({ down })
}

// The environment of all processes. PORT and COLLAB_PORT are the numbers of real ports, so that 0 means the same port
// to all processes. Both ports are looked for at the same time, so that they differ.
async function prepare(config: Config): Promise<NodeJS.ProcessEnv> {
  const [port, collabPort] = await Promise.all([config.PORT, config.COLLAB_PORT].map((port) => freePort({ port })))
  const publicOrigin = process.env['PUBLIC_ORIGIN']?.trim() ? config.PUBLIC_ORIGIN : `http://localhost:${port}`
  // Processes stop without draining unless DRAIN_MS is set, because no load balancer is in front of them.
  if (process.env['DRAIN_MS']?.trim()) drainMs = config.DRAIN_MS
  const directory = resolve(config.DATA_DIR)
  if (config.DATABASE_URL === '') {
    // Variables of libpq, such as PGSSLMODE and PGOPTIONS, are meant for another server.
    for (const name of Object.keys(process.env)) if (/^PG[A-Z]/.test(name)) delete process.env[name]
    postgres = await startEmbeddedPostgres({ directory })
  }
  stopped.signal.throwIfAborted()
  return {
    COLLAB_HAND_ON: 'true',
    // The processes write into a pipe, so only this process can tell whether a person reads the log.
    ...(process.stdout.isTTY && { LOG_FORMAT: 'text', FORCE_COLOR: '1' }),
    ...process.env,
    PATH: `${join(root, 'node_modules/.bin')}:${process.env['PATH']}`,
    NODE_OPTIONS: `--max-semi-space-size=${semiSpace} ${process.env['NODE_OPTIONS'] ?? ''}`.trim(),
    DATABASE_URL: postgres?.localUrl ?? config.DATABASE_URL,
    DATA_DIR: directory,
    HOST: config.HOST || '127.0.0.1',
    PORT: String(port),
    PUBLIC_ORIGIN: publicOrigin,
    COLLAB_PORT: String(collabPort),
    // The API hands on what arrives at this path, so people need no other address than that of the API.
    COLLAB_URL: config.COLLAB_URL || publicOrigin.replace(/^http/, 'ws') + collaborationPath,
    DRAIN_MS: String(drainMs),
  }
}

async function readiness(env: NodeJS.ProcessEnv): Promise<void> {
  for (const port of [env['PORT'], env['COLLAB_PORT']]) {
    const url = `${originOf({ ...env, PORT: port })}/readyz`
    while (!(await answersReady(url))) await sleep(50, undefined, { signal: stopped.signal })
  }
}

// `fetch` would load a whole HTTP client, which this process then kept in memory for as long as the service runs.
async function answersReady(url: string): Promise<boolean> {
  try {
    const [answer] = (await once(get(url, { signal: stopped.signal }), 'response')) as [IncomingMessage]
    answer.resume()
    return answer.statusCode === 200
  } catch {
    return false
  }
}

function announce(facts: { config: Config; origin: string; liveAddress: string; owner: string }): void {
  const { origin } = facts
  const kept = ownerFile(facts.config)
  if (!isTerminal) {
    const addresses = {
      api: `${origin}/api/v1`,
      live: facts.liveAddress,
      agents: `${origin}/mcp`,
      docs: `${origin}/api-docs`,
    }
    log.info({ ...addresses, ...(existsSync(kept) && { owner: relative('.', kept) }) }, 'ready')
    return
  }
  const lines = [
    `API      ${origin}/api/v1`,
    `Live     ${facts.liveAddress}`,
    `Agents   ${origin}/mcp`,
    `Docs     ${origin}/api-docs and ${origin}/api-docs.md`,
  ]
  if (existsSync(kept)) {
    const { token, email } = JSON.parse(readFileSync(kept, 'utf8')) as { token: string; email: string }
    const path = relative('.', kept)
    if (facts.owner !== '') {
      const printed = JSON.parse(facts.owner) as { sign_in_link: string; sign_in_link_expires_at: number }
      const until = new Date(printed.sign_in_link_expires_at).toTimeString().slice(0, 5)
      lines.push(`Open     ${printed.sign_in_link} signs you in (once, until ${until})`)
    }
    lines.push(`Sign in  ${origin}/login as ${email}, with the password in ${path}`)
    // The token is printed only at the first start. Other people may see the output of later starts, or a log keeps it.
    lines.push(facts.owner === '' ? `Token    in ${path}` : `Token    ${token} (also in ${path})`)
    if (facts.owner !== '') lines.push(`Try      curl -H 'Authorization: Bearer ${token}' ${origin}/api/v1/me`)
  }
  lines.push('Stop     Ctrl-C')
  process.stdout.write(`\n${lines.join('\n')}\n\n`)
}

// The file with the password and the token of the first user.
function ownerFile({ DATA_DIR }: Config): string {
  return join(resolve(DATA_DIR), 'bootstrap.json')
}

// The origin of the API on this machine: `localhost` unless HOST is an address that `localhost` does not reach.
function originOf({ HOST = '', PORT }: NodeJS.ProcessEnv): string {
  if (['127.0.0.1', '::1', '0.0.0.0', '::'].includes(HOST)) return `http://localhost:${PORT}`
  return `http://${HOST.includes(':') ? `[${HOST}]` : HOST}:${PORT}`
}

function options(args: string[]): { watch: boolean; apart: boolean } {
  const flag = { type: 'boolean', default: false } as const
  try {
    const { help, ...values } = parseArgs({
      args,
      options: { watch: flag, apart: flag, help: { ...flag, short: 'h' } },
    }).values
    if (!help) return values
    process.stdout.write(`${usage}\n`)
    process.exit(0)
  } catch (error) {
    process.stderr.write(`${describe(error)}\n\n${usage}\n`)
    process.exit(exitUsage)
  }
}

function watching(command: string): string {
  return command.replace(/^node /, 'node --watch --watch-preserve-output ')
}

function fail(reason: string): void {
  if (stopped.signal.aborted) return
  if (isTerminal) process.stderr.write(`${reason}\n`)
  else log.fatal(reason)
  process.exitCode = 1
  stopped.abort()
}

// npm repeats the signal that a terminal has already sent to all processes. Only a later signal comes from a person.
function onSignal(): void {
  if (performance.now() - firstSignal > 500) {
    supervisor.kill()
    void postgres?.stop()
    process.exit(1)
  }
  firstSignal = Math.min(firstSignal, performance.now())
  stopped.abort()
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause === undefined ? error.message : `${error.message}: ${describe(error.cause)}`
}
