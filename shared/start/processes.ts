import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { signalledOnParentDeath } from './parent-death.ts'

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
