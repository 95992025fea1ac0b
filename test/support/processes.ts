import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { signalledOnParentDeath } from '../../shared/start/processes.ts'

/** A process of the service as an operator starts it. It ends with the test process at the latest. */
export type ServiceProcess = {
  readonly pid: number
  /** The output so far on standard output and standard error. */
  readonly output: () => string
  /** Resolves with the exit code, or null after a signal. */
  readonly ended: Promise<number | null>
  /** Sends a signal. */
  readonly signal: (name: NodeJS.Signals) => void
  /** Stops the process with SIGTERM, as a deployment does. Resolves with the exit code. */
  readonly stop: () => Promise<number | null>
}

/** Settings of the service. The process does not get the variables that tap and the test run add. */
export type Settings = Record<string, string>

/** The location of a process: the words that run a command there, and the address of the process. */
export type ProcessLocation = { within: string[]; address: string }

/** Starts `node <file> <words>…` of this repository. */
export function startProcess(
  file: string,
  options: { words?: string[]; env: Settings; location?: ProcessLocation },
): ServiceProcess {
  const { words: given = [], location } = options
  const [command = '', ...words] = [
    ...signalledOnParentDeath('TERM'),
    ...(location?.within ?? []),
    ...[process.execPath, file, ...given],
  ]
  const child = spawn(command, words, { cwd: root, env: environment(options.env), stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk))
  const ended = once(child, 'exit').then(([code]) => code as number | null)
  return {
    pid: child.pid ?? 0,
    output: () => output,
    ended,
    signal: (name) => void child.kill(name),
    stop() {
      child.kill('SIGTERM')
      return ended
    },
  }
}

/** Starts the API on a free port and resolves when it serves. Its log names the port, at the level `info`. */
export async function startApi(
  env: Settings,
  location?: ProcessLocation,
): Promise<ServiceProcess & { origin: string }> {
  const settings = { LOG_LEVEL: 'info', ...env, PORT: '0' }
  const started = startProcess('api/main.ts', { env: settings, ...(location && { location }) })
  const origin = `http://${location?.address ?? '127.0.0.1'}:${await portOf(started)}`
  await until(started, async () => (await fetch(`${origin}/readyz`).catch(() => undefined))?.ok ?? false)
  return { ...started, origin }
}

/** Starts one process for the worker types. Resolves when it takes jobs. */
export async function startWorker(types: string[], env: Settings, location?: ProcessLocation): Promise<ServiceProcess> {
  const started = startProcess('workers/main.ts', {
    words: types,
    env: { LOG_LEVEL: 'info', ...env },
    ...(location && { location }),
  })
  await until(started, async () => started.output().includes('"msg":"working"'))
  return started
}

/**
 * Starts what `npm start -- <words>` starts, on a free port. `directory` is DATA_DIR; `within` are words before the
 * command.
 */
export async function startWholeService(options: {
  directory: string
  env?: Settings
  words?: string[]
  within?: string[]
}) {
  const { directory, words = [], within = [] } = options
  const env = { LOG_LEVEL: 'warn', COLLAB_PORT: '0', ...options.env, DATA_DIR: directory, PORT: '0' }
  const started = startProcess('shared/start/start.ts', { words, env, location: { within, address: '127.0.0.1' } })
  const ready = /"api":"(\S+?)\/api\/v1".*"msg":"ready"/
  await until(started, async () => ready.test(started.output()))
  const [, origin = ''] = ready.exec(started.output()) ?? []
  const { token } = JSON.parse(readFileSync(join(directory, 'bootstrap.json'), 'utf8')) as { token: string }
  return { ...started, origin, token }
}

/** The port that the system gave to a process, as its log says. No other program can have taken it meanwhile. */
export async function portOf(started: ServiceProcess): Promise<number> {
  const line = /"port":(\d+),"msg":"listening"/
  await until(started, async () => line.test(started.output()))
  return Number(line.exec(started.output())?.[1])
}

/** Repeats the question until its answer is true. Throws with the output of the process if the process ends before. */
async function until(running: ServiceProcess, isTrue: () => Promise<boolean>): Promise<void> {
  let over = false
  void running.ended.then(() => {
    over = true
  })
  while (!(await isTrue())) {
    if (over) throw new Error(`The process ended:\n${running.output()}`)
    await sleep(50)
  }
}

/**
 * All running processes that have the folder in their environment or their arguments, except this process. Linux alone
 * tells; elsewhere the list is empty.
 */
export function processesOf(directory: string): { pid: number; command: string }[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map((name) => ({ pid: Number(name), command: readOf(name, 'cmdline'), environment: readOf(name, 'environ') }))
    .filter(({ command, environment }) => `${command}${environment}`.includes(directory))
    .map(({ pid, command }) => ({ pid, command: command.replaceAll('\0', ' ').trim() }))
}

// A process may end after it is listed and before it is read.
function readOf(pid: string, file: 'cmdline' | 'environ'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}

/** The absolute path of this repository. */
export const root = fileURLToPath(new URL('../..', import.meta.url))

/**
 * The setting by which the processes of a test run share compiled code. A process that does not inherit the environment
 * of its test has to be given the setting.
 */
export const compiledCode: Settings =
  process.env['NODE_COMPILE_CACHE'] === undefined ? {} : { NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] }

function environment(settings: Settings): NodeJS.ProcessEnv {
  const { NODE_ENV: _test, DATABASE_URL: _other, ...inherited } = process.env
  return { ...inherited, PATH: `${join(root, 'node_modules/.bin')}:${inherited['PATH']}`, ...settings }
}
