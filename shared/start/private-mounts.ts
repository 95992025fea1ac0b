import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

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
