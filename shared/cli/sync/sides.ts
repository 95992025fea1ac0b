import type { Labels } from './labels.ts'
import type { FileLinks, LinkPlaces } from './links.ts'
import type { Folder } from './paths.ts'

/** A document of the service as far as a sync compares it. `version` is the version of its body. */
export type RemoteDocument = Labels & { id: string; folder_id: number | null; version: string }

/** What a file system tells of a file without reading it. `seenAt` is when it told; all times are Unix milliseconds. */
export type FileStat = { size: number; mtimeMs: number; ctimeMs: number; ino: number; seenAt: number }

/**
 * A file of Markdown. `hash` is the SHA-256 of its bytes. `documentId` and `title` are those that its front matter
 * names, or null.
 */
export type LocalFile = {
  path: string
  hash: string
  documentId: string | null
  title: string | null
  stat: FileStat
}

/**
 * What the last sync has left of a document: the path, hash and links of its file, and the document of the service.
 * `body` is the hash under which the state keeps the body as Markdown. `copyOf` is the document of which the file was a
 * copy when its own document was created.
 */
export type Entry = FileLinks & {
  id: string
  path: string
  hash: string
  stat: FileStat
  document: RemoteDocument
  body: string
  copyOf?: string | undefined
}

/** A folder of the service, and the directory that the last sync has given it. */
export type KnownFolder = Folder & { path: string }

/** The files of Markdown in a folder, with what a plan asks about other paths. */
export type FileState = {
  files: ReadonlyMap<string, LocalFile>
  /** True if the path exists, whatever it is. Case does not count. */
  isTaken: (path: string) => boolean
  /** True if the path or a directory above it exists and cannot be read as a file of Markdown. */
  isUnreadable: (path: string) => boolean
  isDirectory: (path: string) => boolean
}

/** Everything that decides a plan: the state of the last sync, the folder as it is, and the service as it is. */
export type PlanInput = {
  entries: ReadonlyMap<string, Entry>
  knownFolders: ReadonlyMap<number, KnownFolder>
  /** Documents that were deleted, by their ids. */
  gone: ReadonlyMap<string, Entry>
  /** The ids of documents that a sync has begun to create, by the paths of their files. */
  creating: ReadonlyMap<string, string>
  /** Makes the id of a new document. */
  newId: () => string
  files: FileState
  documents: ReadonlyMap<string, RemoteDocument>
  /** The blocks of the headings that a document had at the last sync, by their slugs. */
  headingsOf: LinkPlaces['headingsOf']
  folders: ReadonlyMap<number, Folder>
  /** The folder of the service that is synced; null for a whole knowledge base. */
  root: number | null
  /** Whether more than a tenth of the files, or of the documents, may be deleted. */
  mayDelete: boolean
  /** How many files and documents earlier rounds have deleted; they count as well. */
  deleted: { files: number; documents: number }
}

/** A file and the id of its document. */
export type Pair = { id: string; file: LocalFile }
