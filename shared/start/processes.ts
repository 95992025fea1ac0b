import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { createInterface } from 'node:readline'

/** A process under supervision. */
export interface RunningProcess {
  readonly name: string
  /** Resolves when it has ended, with the reason in words. */
  readonly ended: Promise<string>
  /** Asks it to end and kills it with all that it started when it is still there after `patience` milliseconds. */
  stop(patience: number): Promise<void>
  /** Ends it at once, with all that it started. */
  kill(): void
}

/**
 * Starts a shell command whose lines appear on standard output behind its name, padded to `width`.
 *
 * Each process leads a group of its own, so that Ctrl-C in a terminal reaches only the runner, which then stops them
 * in order; no runner of Procfiles on npm does that and ends its children when it is killed itself.
 */
export function startProcess(options: {
  name: string
  width: number
  command: string
  env: NodeJS.ProcessEnv
  cwd: string
}): RunningProcess {
  const { name, command, env, cwd } = options
  const [file = 'sh', ...words] = [...signalledOnParentDeath('TERM'), 'sh', '-c', `exec ${command}`]
  const child = spawn(file, words, { env, cwd, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  for (const input of [child.stdout, child.stderr]) {
    createInterface({ input }).on('line', (line) => process.stdout.write(`${name.padEnd(options.width)} | ${line}\n`))
  }
  const ended = once(child, 'exit').then(([code, signal]) => `ended ${signal ? `by ${signal}` : `with code ${code}`}`)
  return { name, ended, stop: (patience) => stopProcess(child, { ended, patience }), kill: () => killGroup(child) }
}

/** Runs a command to its end; resolves with its standard output and throws when it fails. Errors go to our own. */
export async function runCommand(options: { command: string; env: NodeJS.ProcessEnv; cwd: string }): Promise<string> {
  const { command, env, cwd } = options
  const [file = 'sh', ...words] = [...signalledOnParentDeath('TERM'), 'sh', '-c', `exec ${command}`]
  const child = spawn(file, words, { env, cwd, stdio: ['ignore', 'pipe', 'inherit'] })
  const closed = once(child, 'close')
  const output = (await child.stdout.toArray()).join('')
  const [code] = await closed
  if (code !== 0) throw new Error(`${command} failed${output && `:\n${output}`}`)
  return output
}

async function stopProcess(child: ChildProcess, options: { ended: Promise<string>; patience: number }): Promise<void> {
  child.kill('SIGTERM')
  const impatient = setTimeout(() => killGroup(child), options.patience)
  await options.ended
  clearTimeout(impatient)
}

function killGroup(child: ChildProcess): void {
  if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL')
}

/** A line of the Procfile: a process type and the shell command that runs it. */
export interface ProcessType {
  name: string
  command: string
}

/**
 * Reads a Procfile: `release`, the command that prepares a new version, apart from the processes that run all the
 * time. Throws on a line that is not `name: command`.
 */
export function parseProcfile(text: string): { release: string; processes: ProcessType[] } {
  const types = text
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
    .map(parseLine)
  const release = types.find((type) => type.name === 'release')
  if (release === undefined) throw new Error('The Procfile has no release line')
  return { release: release.command, processes: types.filter((type) => type !== release) }
}

/**
 * The same processes with one for all worker types in the place of one for each: a small service needs no more, and
 * what a process costs at rest is spent once. Lines that are no plain call of `workers/main.ts` stay as they are.
 */
export function joinWorkers(processes: readonly ProcessType[]): ProcessType[] {
  const typesOf = ({ command }: ProcessType) => /^node workers\/main\.ts ([\w -]+)$/.exec(command)?.[1]
  const types = processes.flatMap((process) => typesOf(process) ?? [])
  const others = processes.filter((process) => typesOf(process) === undefined)
  if (types.length === 0) return others
  return [...others, { name: 'workers', command: `node workers/main.ts ${types.join(' ')}` }]
}

function parseLine(line: string): ProcessType {
  const [, name, command] = /^([\w-]+):\s*(\S.*)$/.exec(line) ?? []
  if (name === undefined || command === undefined) throw new Error(`The Procfile has a line without a command: ${line}`)
  return { name, command }
}

/** A TCP port that nobody uses at the moment: the given one, which throws EADDRINUSE when it is taken, or any. */
export async function freePort(wanted: { port?: number; host?: string }): Promise<number> {
  const server = createServer().listen({ port: 0, ...wanted })
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (typeof address !== 'object' || address === null) throw new Error('There is no free TCP port')
  return address.port
}

/**
 * Words to put before a command so that it receives the signal when the process that started it dies, even by SIGKILL.
 * Needs Linux and util-linux's setpriv; elsewhere the list is empty and such a child outlives its parent. `setpriv`
 * replaces itself by the command, which therefore keeps the process id.
 */
export function signalledOnParentDeath(signal: 'TERM' | 'QUIT'): string[] {
  return hasSetpriv() ? ['setpriv', '--pdeathsig', signal] : []
}

let found: boolean | undefined

function hasSetpriv(): boolean {
  found ??= process.platform === 'linux' && spawnSync('setpriv', ['--version']).status === 0
  return found
}
