import { posix } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { placeFolders, type RenamedFolder } from './folders.ts'
import { isOutdated, type LinkPlaces } from './links.ts'
import { pairFiles } from './pairs.ts'
import { directoryOf, inDirectory, keyOfPath, pathFor, titleOfPath } from './paths.ts'
import type { Entry, LocalFile, Pair, PlanInput, RemoteDocument } from './sides.ts'

/**
 * What a sync does with one document:
 * - `create`: a new document from a file;
 * - `restore`: a document comes back from the trash, since its file has come back;
 * - `download`: a new file from a document;
 * - `update`: what differs is merged and written on both sides. `from` is the path of the file and `path` its new path.
 *   `directory` decides the folder of the document. `entry` is null if no common state is known. `isCreated` says
 *   that a sync has made the document from the file and was killed then;
 * - `trash`: the document goes to the trash, since its file was deleted;
 * - `remove`: the file is deleted, since its document is gone;
 * - `forget`: both are gone.
 */
export type Action =
  | Creation
  | Restoration
  | { type: 'download'; id: string; path: string; document: RemoteDocument }
  | Update
  | { type: 'trash'; id: string; path: string; version: string }
  | { type: 'remove'; id: string; path: string; file: LocalFile }
  | { type: 'forget'; id: string; path: string }

export type Creation = { type: 'create'; path: string; file: LocalFile; id: string; copyOf?: string | undefined }

export type Restoration = { type: 'restore'; path: string; file: LocalFile; id: string; entry: Entry }

export type Update = {
  type: 'update'
  id: string
  from: string
  path: string
  file: LocalFile
  document: RemoteDocument
  entry: Entry | null
  isCreated: boolean
  changes: { file: boolean; document: boolean }
}

/**
 * A plan. `withheld` are the deletions that are left out because they are too many. `directories` has the directory of
 * each folder of the service. `unchanged` are the pairs without an action. `places` tells where links lead.
 */
export type Plan = {
  actions: Action[]
  withheld: Action[]
  renamedFolders: RenamedFolder[]
  directories: ReadonlyMap<number | null, string>
  unchanged: { entry: Entry; file: LocalFile }[]
  places: LinkPlaces
}

/**
 * Plans a sync. A change on one side is carried to the other. What one side has deleted and the other has changed is
 * kept as changed. A file that cannot be read takes part in nothing, so it counts neither as changed nor as deleted.
 */
export function planSync(input: PlanInput): Plan {
  const { entries, documents } = input
  const { pairs, newFiles } = pairFiles(input)
  const { directories, homes, renamed } = placeFolders(input, pairs)
  const files = new Map(pairs.map(({ id, file }) => [id, file]))
  const { deletions, withheld, recreated } = deletionsOf(input, files)
  const place = placerOf(input, deletions)
  const updates: Update[] = []
  const same: { entry: Entry; file: LocalFile; document: RemoteDocument }[] = []
  for (const { id, file } of pairs) {
    const entry = entries.get(id) ?? null
    const document = documents.get(id)
    if (document === undefined) continue
    const directory = directories.get(document.folder_id)
    if (directory === undefined) continue
    const update = updateOf(
      { pair: { id, file }, entry, document, isCreated: input.creating.get(file.path) === id },
      { directory, homes, place },
    )
    if (update === null) same.push({ entry: entry as Entry, file, document })
    else updates.push(update)
  }
  const downloads = [...documents.values()].flatMap((document): (Action & { type: 'download' })[] => {
    const entry = entries.get(document.id)
    const { id, title } = document
    const directory = directories.get(document.folder_id)
    if (directory === undefined || files.has(id)) return []
    if (entry && (input.files.isUnreadable(entry.path) || isSameDocument(entry, document))) return []
    return [{ type: 'download', id, path: place({ id, title, directory }), document }]
  })
  const restorations = restorationsOf(newFiles, input)
  const restored = new Set(restorations.map(({ path }) => path))
  const created = newFiles.filter(({ path }) => !restored.has(path))
  const creations = [...restorations, ...created.map((file) => creationOf(file, input)), ...recreated]
  const places = placesOf(input, [
    ...same.map(({ entry, file }) => ({ id: entry.id, path: file.path })),
    ...updates,
    ...downloads,
    ...creations,
  ])
  const [relinked = [], unchanged = []] = [true, false].map((wanted) =>
    same.filter(({ entry, file }) => isOutdated(entry, file.path, places) === wanted),
  )
  const rewrites = relinked.map(({ entry, file, document }): Update => {
    const { path } = file
    const changes = { file: false, document: true }
    return { type: 'update', id: entry.id, from: path, path, file, document, entry, isCreated: false, changes }
  })
  const actions = [...updates, ...rewrites, ...downloads, ...creations, ...deletions]
  return { actions, withheld, renamedFolders: renamed, directories, unchanged, places }
}

// After a crash, a file gets the document whose creation had begun.
function creationOf(file: LocalFile, { creating, newId, entries }: PlanInput): Creation {
  const original = entries.get(file.documentId ?? '') ?? [...entries.values()].find(({ hash }) => hash === file.hash)
  const id = creating.get(file.path) ?? newId()
  return { type: 'create', path: file.path, file, id, copyOf: original?.id }
}

// A file names the deleted document to which it belongs, or has the text that its file had. Of several such files, the
// one at the path of the last sync counts, and the others are copies.
function restorationsOf(files: readonly LocalFile[], { gone, creating }: PlanInput): Restoration[] {
  const byHash = new Map([...gone.values()].map(({ id, hash }) => [hash, id]))
  const named = Map.groupBy(files, ({ documentId, hash, path }) => {
    return creating.has(path) ? null : (documentId ?? byHash.get(hash) ?? null)
  })
  return [...named].flatMap(([id, sameId]): Restoration[] => {
    const entry = gone.get(id ?? '')
    const file = sameId.find(({ path }) => path === entry?.path) ?? sameId[0]
    return entry && file ? [{ type: 'restore', id: entry.id, path: file.path, file, entry }] : []
  })
}

// A path means the document whose file is there now, or else the document whose file was there at the last sync. File
// systems and authors may write one letter in several ways.
function placesOf(
  { entries, headingsOf }: PlanInput,
  files: readonly { id: string; path: string; from?: string }[],
): LinkPlaces {
  const paths = new Map(files.map(({ id, path }) => [id, path]))
  const now = new Map(files.map(({ id, path, from }) => [(from ?? path).normalize(), id]))
  const before = new Map([...entries.values()].map(({ id, path }) => [path.normalize(), id]))
  return {
    pathOf: (id) => paths.get(id),
    headingsOf,
    idAt: (named) => {
      const path = named.normalize()
      const old = before.get(path)
      return now.get(path) ?? (old !== undefined && paths.has(old) ? old : undefined)
    },
  }
}

/** True if the document is as the last sync has left it. */
export function isSameDocument(entry: Entry, document: RemoteDocument): boolean {
  const members = ({ title, tags, properties, folder_id, version }: RemoteDocument) => {
    return { title, tags, properties, folder_id, version }
  }
  return isDeepStrictEqual(members(entry.document), members(document))
}

type Deletions = { deletions: Action[]; withheld: Action[]; recreated: Creation[] }

// What one side has deleted is deleted on the other, unless it has changed there. A changed file whose document is gone
// becomes a new document. Too many deletions of files, or of documents, are withheld.
function deletionsOf(input: PlanInput, pairs: ReadonlyMap<string, LocalFile>): Deletions {
  const { entries, documents, files, mayDelete, deleted } = input
  const found: Deletions = { deletions: [], withheld: [], recreated: [] }
  const [trash, remove]: Action[][] = [[], []]
  for (const entry of entries.values()) {
    const { id, path } = entry
    const [file, document] = [pairs.get(id), documents.get(id)]
    if (file === undefined && files.isUnreadable(path)) continue
    if (file === undefined && document === undefined) found.deletions.push({ type: 'forget', id, path })
    else if (file === undefined && document !== undefined) {
      if (isSameDocument(entry, document)) trash?.push({ type: 'trash', id, path, version: document.version })
    } else if (file !== undefined && document === undefined) {
      if (file.hash === entry.hash) remove?.push({ type: 'remove', id, path: file.path, file })
      else {
        found.deletions.push({ type: 'forget', id, path })
        found.recreated.push(creationOf(file, input))
      }
    }
  }
  for (const [actions = [], before] of [
    [trash, deleted.documents],
    [remove, deleted.files],
  ] as const) {
    const isTooMuch = !mayDelete && (actions.length + before) * 10 > entries.size + before
    found[isTooMuch ? 'withheld' : 'deletions'].push(...actions)
  }
  return found
}

type Wanted = { id: string; title: string; directory: string; name?: string | undefined; own?: string }
type Place = (wanted: Wanted) => string

// Returns a function that gives each document a path that nothing else has, and remembers it. The path has the given
// name if it can. The path of a file that is deleted first is free. So is a path that differs from the own path of a
// file only in case.
function placerOf({ files }: PlanInput, deletions: readonly Action[]): Place {
  const planned = new Set<string>()
  const freed = new Set(deletions.map(({ type, path }) => (type === 'remove' ? keyOfPath(path) : '')))
  return ({ name, own, ...document }) => {
    const isTaken = (path: string) => {
      const key = keyOfPath(path)
      return planned.has(key) || (files.isTaken(path) && !freed.has(key) && key !== keyOfPath(own ?? ''))
    }
    const preferred = name === undefined ? null : inDirectory(document.directory, name)
    const path = preferred !== null && !isTaken(preferred) ? preferred : pathFor({ ...document, isTaken })
    planned.add(keyOfPath(path))
    return path
  }
}

type Paired = { pair: Pair; entry: Entry | null; document: RemoteDocument; isCreated: boolean }
type Surroundings = { directory: string; homes: ReadonlyMap<number | null, string>; place: Place }

// Where both sides have moved a document, it goes where the service has it. So does a file that was never synced. The
// name of a file follows the title only if it has told the title before, as the name of a new file does.
function updateOf(
  { pair, entry, document, isCreated }: Paired,
  { directory, homes, place }: Surroundings,
): Update | null {
  const { id, file } = pair
  const { folder_id, title: known } = entry?.document ?? document
  const title = entry === null && isCreated && file.title === null ? titleOfPath(file.path) : known
  const isMovedHere = entry !== null && directoryOf(file.path) !== (homes.get(folder_id) ?? directory)
  const isMovedThere = document.folder_id !== folder_id
  const target = isMovedHere && !isMovedThere ? directoryOf(file.path) : directory
  const isRenamed = title !== document.title && titleOfPath(entry?.path ?? file.path) === title
  const isThere = target === directoryOf(file.path) && !isRenamed
  const name = posix.basename(file.path)
  const path = isThere
    ? file.path
    : place({ id, title: document.title, directory: target, name: isRenamed ? undefined : name, own: file.path })
  const home = inDirectory(homes.get(folder_id) ?? directory, posix.basename(entry?.path ?? name))
  const changes = {
    file: entry === null || file.hash !== entry.hash || file.path !== home,
    document: entry === null || path !== file.path || !isSameDocument(entry, document),
  }
  if (!changes.file && !changes.document) return null
  return { type: 'update', id, from: file.path, path, file, document, entry, isCreated, changes }
}
