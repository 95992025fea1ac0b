import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compiledCode, root } from './processes.ts'
import type { Teardown } from './site.ts'

/** How a run of the command line ended. */
export type Ran = { code: number | null; out: string; err: string }

/** A run of the command line that goes on. */
export type Running = {
  readonly child: ChildProcess
  /** What was printed so far. */
  readonly printed: () => { out: string; err: string }
  readonly ended: Promise<Ran>
}

type RunOptions = { env?: Record<string, string>; input?: string; cwd?: string }

/**
 * The command line of one person: the real executable as a process of its own, with a folder of settings of its own.
 */
export type CommandLine = {
  readonly directory: string
  /** Starts a command. */
  readonly start: (words: string[], options?: RunOptions) => Running
  /** Runs a command to its end. */
  readonly run: (words: string[], options?: RunOptions) => Promise<Ran>
  /** Runs a command to its end with `--json`, and parses its answer. Throws unless the command succeeds. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly json: (words: string[], options?: RunOptions) => Promise<any>
}

/** The command line of a person who calls the service at `origin`, with a token if one is given. */
export function commandLine(t: Teardown, options: { origin?: string; token?: string } = {}): CommandLine {
  const directory = mkdtempSync(join(tmpdir(), 'svc-cli-'))
  t.teardown(() => rmSync(directory, { recursive: true, force: true }))
  const settings = {
    HOME: directory,
    XDG_CONFIG_HOME: directory,
    TMPDIR: directory,
    ...(options.origin !== undefined && { KB_ORIGIN: options.origin }),
    ...(options.token !== undefined && { KB_TOKEN: options.token }),
  }
  const start = (words: string[], { env, input, cwd }: RunOptions = {}): Running => {
    const child = spawn(process.execPath, [join(root, 'shared/cli/main.ts'), ...words], {
      cwd: cwd ?? directory,
      env: { PATH: process.env['PATH'], ...compiledCode, ...settings, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    t.teardown(() => child.kill('SIGKILL'))
    let [out, err] = ['', '']
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      err += text
    })
    child.stdin.end(input ?? '')
    const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, out, err }))
    return { child, printed: () => ({ out, err }), ended }
  }
  const run = (words: string[], options?: RunOptions) => start(words, options).ended
  const json = async (words: string[], options?: RunOptions) => {
    const { code, out, err } = await run([...words, '--json'], options)
    if (code !== 0) throw new Error(`${words.join(' ')} ended with ${code}: ${err}`)
    return JSON.parse(out)
  }
  return { directory, start, run, json }
}
