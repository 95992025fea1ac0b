import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { signalledOnParentDeath } from '../../shared/start/processes.ts'
import { root, type Settings } from '../support/processes.ts'
import type { Teardown } from '../support/site.ts'
import { allProcesses, type Process } from './proc.ts'

/** The processes whose processor time is told apart. */
export const processNames = ['api', 'workers', 'postgres', 'start'] as const

/** A figure for each of the processes, such as its processor time in milliseconds. */
export type ByProcess = Record<(typeof processNames)[number], number>

/** The answer of a call: its status and its parsed body. */
// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
export type Answered = { status: number; body: any }

/** A running `npm start` of some version of this repository, with an embedded PostgreSQL of its own. */
export type WholeService = {
  origin: string
  token: string
  /** Calls a path below `/api/v1` over one of `sockets` connections. Throws on a status of 400 and above. */
  call: (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answered>
  knowledgeBase: number
  /** The processor time since the start in milliseconds. Throws without Linux's /proc. */
  cpu: () => ByProcess
  /** The resident memory in megabytes. */
  memory: () => ByProcess
  /** Runs a statement as the role of the service. */
  // biome-ignore lint/suspicious/noExplicitAny: rows of any statement
  ask: (statement: string) => Promise<any[]>
  /** Resolves when all projections are current and no job of theirs waits or runs. */
  drained: () => Promise<void>
  /** Returns the number of statements that PostgreSQL logs while `work` runs. */
  countStatements: (work: () => Promise<void>) => Promise<number>
}

/**
 * Runs the start script of the tree in `directory` until the test or measurement ends. Rate limits are off.
 * `settings` are further environment variables. Throws with the output when the service does not start.
 */
export async function startWholeService(
  t: Teardown,
  { directory = root, sockets = 8, settings = {} }: { directory?: string; sockets?: number; settings?: Settings } = {},
): Promise<WholeService> {
  const data = mkdtempSync(join(tmpdir(), 'documents-whole-'))
  const { scripts } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))
  const [file = 'sh', ...words] = [...signalledOnParentDeath('TERM'), 'sh', '-c', scripts.start]
  const env = { ...environment({ directory, data }), ...settings }
  const child = spawn(file, words, { cwd: directory, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk))
  const ended = once(child, 'exit')
  t.teardown(async () => {
    child.kill('SIGTERM')
    await ended
    rmSync(data, { recursive: true, force: true })
  })
  while (!/^API /m.test(output)) {
    if (child.exitCode !== null) throw new Error(`The service of ${directory} ended:\n${output}`)
    await sleep(50)
  }
  const [, origin = ''] = /^API +(\S+)\/api\/v1$/m.exec(output) ?? []
  const { token } = JSON.parse(readFileSync(join(data, 'bootstrap.json'), 'utf8')) as { token: string }
  const call = caller({ origin, token, agent: new Agent({ keepAlive: true, maxSockets: sockets }) })
  const database = new pg.Client(databaseUrlOf(child.pid ?? 0))
  await database.connect()
  t.teardown(() => database.end())
  const ask = async (statement: string) => (await database.query(statement)).rows
  const created = await call('POST', '/knowledge-bases', { name: 'Measured' })
  return {
    origin,
    token,
    call,
    knowledgeBase: created.body.data.id,
    cpu: () => sumByProcess(child.pid ?? 0, ({ milliseconds }) => milliseconds),
    memory: () => sumByProcess(child.pid ?? 0, ({ megabytes }) => megabytes),
    ask,
    drained: () => drained(ask),
    countStatements: (work) => countStatements(data, work),
  }
}

/**
 * A folder with an installed copy of a commit of this repository. The folder stays for the next measurement. Throws
 * when git does not know the commit.
 */
export function installedCommit(commit: string): string {
  const name = execFileSync('git', ['rev-parse', '--short=12', `${commit}^{commit}`], { cwd: root, encoding: 'utf8' })
  const directory = join(tmpdir(), `documents-commit-${name.trim()}`)
  const installed = join(directory, 'installed')
  if (existsSync(installed)) return directory
  mkdirSync(directory, { recursive: true })
  const archive = execFileSync('git', ['archive', name.trim()], { cwd: root, maxBuffer: 2 ** 30 })
  execFileSync('tar', ['-x', '-C', directory], { input: archive })
  execFileSync('npm', ['ci', '--prefer-offline', '--no-audit', '--no-fund'], { cwd: directory, stdio: 'ignore' })
  writeFileSync(installed, '')
  return directory
}

function environment({ directory, data }: { directory: string; data: string }): NodeJS.ProcessEnv {
  const { NODE_OPTIONS: _tap, NODE_ENV: _test, DATABASE_URL: _other, ...inherited } = process.env
  return {
    ...inherited,
    PATH: `${join(directory, 'node_modules/.bin')}:${inherited['PATH']}`,
    LOG_LEVEL: 'warn',
    DATA_DIR: data,
    PORT: '0',
    COLLAB_PORT: '0',
    RATE_READ_PER_MIN: '0',
    RATE_WRITE_PER_MIN: '0',
    RATE_SEARCH_PER_MIN: '0',
    QUOTA_DOCUMENTS: '1000000',
  }
}

// `fetch` costs three times as much as `request`, in the process that shares the machine with the service.
function caller({ origin, token, agent }: { origin: string; token: string; agent: Agent }): WholeService['call'] {
  return async (method, path, body, headers) => {
    const payload = body === undefined ? undefined : JSON.stringify(body)
    const sent = request(`${origin}/api/v1${path}`, {
      agent,
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(payload !== undefined && {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(payload),
        }),
        ...headers,
      },
    })
    sent.end(payload)
    const [response] = await once(sent, 'response')
    const chunks: Buffer[] = await response.toArray()
    const text = Buffer.concat(chunks).toString()
    if (response.statusCode >= 400) throw new Error(`${method} ${path} answered ${response.statusCode}: ${text}`)
    const isJson = response.headers['content-type']?.includes('json') && text !== ''
    return { status: response.statusCode, body: isJson ? JSON.parse(text) : undefined }
  }
}

// The same question for every version of the service.
const waiting = `
  SELECT FROM stale_projections UNION ALL
  SELECT FROM pgboss.job
  WHERE name IN ('search.index', 'changes.diff', 'relations.extract', 'candidates.refresh', 'summaries.refresh')
    AND state IN ('created', 'retry', 'active')
  UNION ALL SELECT FROM events WHERE event_id IS NULL
  LIMIT 1`

async function drained(ask: WholeService['ask']): Promise<void> {
  // A worker process counts and reports for a moment after its last commit.
  for (let quiet = 0; quiet < 3; quiet = (await ask(waiting)).length === 0 ? quiet + 1 : 0) await sleep(200)
}

async function countStatements(data: string, work: () => Promise<void>): Promise<number> {
  const cluster = join(data, 'postgres')
  const settings = join(cluster, 'postgresql.auto.conf')
  const [postmaster = ''] = readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n')
  const before = readFileSync(settings, 'utf8')
  const log = () => readFileSync(join(data, 'postgres.log'), 'utf8')
  const configure = async (text: string) => {
    writeFileSync(settings, text)
    process.kill(Number(postmaster), 'SIGHUP')
    await sleep(500)
  }
  await configure(`${before}\nlog_statement = 'all'\nlog_min_duration_statement = -1\n`)
  const start = log().length
  await work()
  const lines = log().slice(start)
  await configure(before)
  const asked = lines.match(/LOG: {2}(?:statement|execute [^\n]*?):/g)?.length ?? 0
  // The questions of `drained` are not the service's.
  return asked - (lines.match(/SELECT FROM stale_projections UNION ALL/g)?.length ?? 0)
}

function sumByProcess(start: number, figure: (of: Process) => number): ByProcess {
  const sums: ByProcess = { api: 0, workers: 0, postgres: 0, start: 0 }
  for (const one of descendants(start)) sums[nameOf(one)] += figure(one)
  return sums
}

function nameOf({ command }: Process): keyof ByProcess {
  if (/api\/main\.ts/.test(command)) return 'api'
  if (/workers\/main\.ts/.test(command)) return 'workers'
  return /postgres/.test(command) ? 'postgres' : 'start'
}

function descendants(start: number): Process[] {
  const all = allProcesses()
  const children = Map.groupBy(all, ({ parent }) => parent)
  const below = (one: Process): Process[] => [one, ...(children.get(one.pid) ?? []).flatMap(below)]
  return all.filter(({ pid }) => pid === start).flatMap(below)
}

// The port of an embedded PostgreSQL changes with each start; the API process has been told.
function databaseUrlOf(start: number): string {
  const api = descendants(start).find((one) => nameOf(one) === 'api')
  const variables = readFileSync(`/proc/${api?.pid}/environ`, 'utf8').split('\0')
  return variables.find((variable) => variable.startsWith('DATABASE_URL='))?.slice('DATABASE_URL='.length) ?? ''
}
