import { directoryFor, directoryOf, type Folder, inDirectory, keyOfPath, nameOfDirectory } from './paths.ts'
import type { KnownFolder, Pair, PlanInput } from './sides.ts'

/** A folder whose directory was renamed or moved: its directory was `from` and is `path`. */
export type RenamedFolder = { id: number; from: string; path: string }

/**
 * The directories of the folders of the service, by folder id. The key of the synced folder itself is its id or null,
 * and its directory is the empty path. `homes` are the directories that files of the last sync are in now, if nobody
 * has moved them to another folder.
 */
export type PlacedFolders = {
  directories: Map<number | null, string>
  homes: Map<number | null, string>
  renamed: RenamedFolder[]
}

type FolderInput = Pick<PlanInput, 'entries' | 'knownFolders' | 'files' | 'folders' | 'root'>

/**
 * Gives each folder below the synced folder its directory. A folder keeps its directory while its name and its parent
 * stay the same. If a directory is gone and all its files are in one other directory, the directory was renamed.
 * Its folder is then renamed, too, unless the service has renamed the folder as well.
 */
export function placeFolders(input: FolderInput, pairs: readonly Pair[]): PlacedFolders {
  const { knownFolders, folders, root } = input
  const renamed = renamedDirectories(input, pairs)
  const homes = new Map<number | null, string>([[root, '']])
  for (const { id, path } of knownFolders.values()) homes.set(id, moved(path, renamed))
  const directories = new Map<number | null, string>([[root, '']])
  const taken = new Set<string>()
  const claim = (folder: Folder, path: string) => {
    directories.set(folder.id, path)
    taken.add(keyOfPath(path))
  }
  const children = Map.groupBy(
    [...folders.values()].sort((a, b) => a.id - b.id),
    ({ parent_id }) => parent_id,
  )
  // The directories of known folders are given first, so that a new folder of the same name gets another directory.
  for (let level = [root]; level.length > 0; ) {
    const below = level.flatMap((id) => children.get(id) ?? []).filter(({ id }) => !directories.has(id))
    const parentOf = ({ parent_id }: Folder) => directories.get(parent_id) ?? ''
    const left = below.filter((folder) => {
      const home = isSameFolder(folder, knownFolders.get(folder.id)) ? homes.get(folder.id) : undefined
      const isRenamed = home !== undefined && renamed.some(({ id }) => id === folder.id)
      const isFree = home !== undefined && !taken.has(keyOfPath(home))
      if (isFree && (isRenamed || directoryOf(home) === parentOf(folder))) claim(folder, home)
      return !directories.has(folder.id)
    })
    const isTaken = (path: string) => taken.has(keyOfPath(path))
    for (const folder of left) {
      const parent = parentOf(folder)
      claim(folder, ownDirectory(folder, { parent, input, isTaken }) ?? directoryFor(folder, parent, isTaken))
    }
    level = below.map(({ id }) => id)
  }
  return { directories, homes, renamed: renamed.filter(({ id, path }) => directories.get(id) === path) }
}

type Placing = { parent: string; input: FolderInput; isTaken: (path: string) => boolean }

// The directory that a person has given a folder's name, which may be a name that not all file systems accept. File
// systems may write one letter in several ways.
function ownDirectory({ name }: Folder, { parent, input, isTaken }: Placing): string | undefined {
  return [name, name.normalize('NFD')]
    .map((written) => inDirectory(parent, written))
    .find((path) => input.files.isDirectory(path) && nameOfDirectory(path) === name && !isTaken(path))
}

function isSameFolder(folder: Folder, known: KnownFolder | undefined): boolean {
  return known !== undefined && known.name === folder.name && known.parent_id === folder.parent_id
}

// Folders above come first. A folder inside of a renamed folder counts as renamed only if it has moved by itself.
function renamedDirectories({ entries, knownFolders, files, folders }: FolderInput, pairs: readonly Pair[]) {
  const renamed: RenamedFolder[] = []
  const mapped = new Set([...knownFolders.values()].map(({ path }) => path))
  const paths = new Map(pairs.map(({ id, file }) => [id, file.path]))
  const placed = [...entries.values()].flatMap(({ id, path }) => {
    const now = paths.get(id)
    return now === undefined ? [] : [{ path, now }]
  })
  for (const known of [...knownFolders.values()].sort((a, b) => a.path.length - b.path.length)) {
    const { id } = known
    const from = moved(known.path, renamed)
    if (files.isDirectory(known.path) || files.isDirectory(from) || !folders.has(id)) continue
    const inside = placed.filter(({ path }) => path.startsWith(`${known.path}/`))
    const [first] = inside
    const end = first?.path.slice(known.path.length) ?? ''
    if (first === undefined || !first.now.endsWith(end)) continue
    const path = first.now.slice(0, -end.length)
    const isWhole = inside.every((file) => file.now === path + file.path.slice(known.path.length))
    const isFree = path !== '' && !mapped.has(path) && !renamed.some((other) => other.path === path)
    if (isWhole && isFree && isSameFolder(folders.get(id) as Folder, known))
      renamed.push({ id, from: known.path, path })
  }
  return renamed
}

// Where a path is after directories above it, or it itself, were renamed.
function moved(path: string, renamed: readonly RenamedFolder[]): string {
  return renamed.reduceRight((result, { from, path: now }) => {
    if (result !== path) return result
    return path === from || path.startsWith(`${from}/`) ? now + path.slice(from.length) : path
  }, path)
}
