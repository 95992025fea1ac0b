import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'

/** A process that `npm start` supervises. */
export interface RunningProcess {
  readonly name: string
  /** Resolves with the reason in words when the process has ended. */
  readonly ended: Promise<string>
  /** Sends SIGTERM, and after `patience` ms SIGKILL to its whole process group. */
  stop(patience: number): Promise<void>
  /** Sends SIGKILL to its whole process group. */
  kill(): void
  /** The last lines of its output. */
  lastLines(): string
  /** Sends a message to a process that was started with a channel. */
  send?(message: object): void
}

/** A line that a process has printed, without its line end. */
export type PrintedLine = { name: string; line: string; stream: 'stdout' | 'stderr' }

/**
 * Starts a shell command. `print` is called with each line of its output. With `hasChannel`, the process can be sent
 * messages.
 *
 * Each process leads its own process group, so that Ctrl-C in a terminal reaches only the runner, which then stops the
 * processes in order. No runner of Procfiles on npm stops processes in order and also ends its children when it is
 * killed.
 */
export function startProcess(options: {
  name: string
  command: string
  env: NodeJS.ProcessEnv
  cwd: string
  print: (printed: PrintedLine) => void
  hasChannel?: boolean
}): RunningProcess {
  const { name, command, env, cwd, print, hasChannel = false } = options
  const [file = 'sh', ...words] = [...signalledOnParentDeath('TERM'), 'sh', '-c', `exec ${command}`]
  const stdio = ['ignore', 'pipe', 'pipe', ...(hasChannel ? ['ipc' as const] : [])] as const
  const child = spawn(file, words, { env, cwd, detached: true, stdio: [...stdio] })
  const last: string[] = []
  for (const stream of ['stdout', 'stderr'] as const) {
    createInterface({ input: child[stream] as Readable }).on('line', (line) => {
      last.push(line)
      if (last.length > keptLines) last.shift()
      print({ name, line, stream })
    })
  }
  const ended = once(child, 'exit').then(([code, signal]) => `ended ${signal ? `by ${signal}` : `with code ${code}`}`)
  return {
    name,
    ended,
    stop: (patience) => stopProcess(child, { ended, patience }),
    kill: () => killGroup(child),
    lastLines: () => last.join('\n'),
    // A process that ends meanwhile needs no message.
    ...(hasChannel && { send: (message) => child.connected && child.send(message, () => {}) }),
  }
}

const keptLines = 20

/** Runs a shell command to its end. Resolves with its standard output; throws when its exit code is not 0. */
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
 * Reads a Procfile. `release` is the command that prepares a new version; `processes` are the processes that run all
 * the time. Throws on a line that is not `name: command`, and without a release line.
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
 * Replaces the processes of the worker types by one process for all of them. One worker process is enough for a small
 * service, and saves the memory of the other processes. Lines that are no plain call of `workers/main.ts` stay as they
 * are.
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

/** A TCP port that is free at the moment: `port`, or any port without it. Throws EADDRINUSE when `port` is taken. */
export async function freePort(wanted: { port?: number; host?: string }): Promise<number> {
  if (wanted.port) return listenOnce(wanted)
  for (let tries = 0; tries < ports.count; tries++) {
    const port = nextPort()
    const taken = await listenOnce({ ...wanted, port }).catch((error: NodeJS.ErrnoException) => error.code)
    if (taken === port) return port
    if (taken !== 'EADDRINUSE' && taken !== 'EACCES') throw new Error(`No TCP port can be opened: ${taken}`)
  }
  throw new Error('There is no free TCP port')
}

async function listenOnce(wanted: { port?: number; host?: string }): Promise<number> {
  const server = createServer().listen(wanted)
  await once(server, 'listening')
  const address = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return address.port
}

/**
 * Ports that no system gives to outgoing connections (Linux begins at 32,768, RFC 6335 at 49,152). A connection of any
 * program could otherwise take the port before the process that it is meant for.
 */
const ports = { first: 10_000, count: 22_000, perProcess: 20 }
let searched = 0

/** The next port to try. Processes that run at the same time begin at different ports. */
function nextPort(): number {
  return ports.first + ((process.pid * ports.perProcess + searched++) % ports.count)
}

/**
 * The words to put before a command so that it gets the signal when its parent process dies, even by SIGKILL. The words
 * call setpriv of util-linux, which exists on Linux alone. Elsewhere the list is empty, and the command outlives its
 * parent. setpriv replaces itself by the command, which therefore keeps the process id.
 */
export function signalledOnParentDeath(signal: 'TERM' | 'QUIT'): string[] {
  return hasSetpriv() ? ['setpriv', '--pdeathsig', signal] : []
}

let found: boolean | undefined

function hasSetpriv(): boolean {
  found ??= process.platform === 'linux' && spawnSync('setpriv', ['--version']).status === 0
  return found
}
