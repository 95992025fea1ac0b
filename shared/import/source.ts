import { constants, type Dirent } from 'node:fs'
import { open, readdir } from 'node:fs/promises'
import { basename, extname, join, resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { crc32 } from 'node:zlib'
import { type Entry, openPromise } from 'yauzl'

// The largest text file in bytes: far more than a document may have.
const textLimit = 32 * 1024 * 1024

type ZipLimits = { files: number; bytes: number }

// Each file is read by itself and has its own limit. These limits only stop archives that unpack to a multiple of what
// an import could ever need.
const zipLimits: ZipLimits = { files: 1_000_000, bytes: 64 * 1024 ** 3 }

// The upper 16 bits of an entry's attributes are a Unix mode if a Unix system made the archive. `fileType` masks the
// bits of the mode that tell the type of the file.
const fileType = 0o170000
const symbolicLink = 0o120000

/**
 * The files to import, from a folder or a zip alike. A name has `/` between folders, is in Unicode form NFC like links
 * in texts, and never leads out of the source.
 */
export type ImportSource = {
  /** The name of a knowledge base that is made for the source. */
  readonly name: string
  readonly names: ReadonlySet<string>
  /** Files of the source that are not offered, such as hidden files. A skipped folder stands for everything in it. */
  readonly skipped: readonly Skipped[]
  /** The bytes of a file. Rejects with a SourceError for a damaged file, and for more bytes than the limit. */
  read: (name: string, limit: number) => Promise<Buffer>
  close: () => Promise<void>
}

/** A file or folder that is not imported, and the reason. */
export type Skipped = { name: string; reason: ImportSkipReason }

/** The reason for which a file or folder is not imported. */
export type ImportSkipReason = keyof typeof skipReasons

/** The reasons for which files and folders are not imported, in words for the person who imports. */
export const skipReasons = {
  hidden: 'its name begins with a dot',
  node_modules: 'packages that were installed',
  symbolic_link: 'a symbolic link, which can lead anywhere',
  special_file: 'neither a file nor a folder',
  unnamed_image: 'an image that no Markdown file shows',
  other_type: 'neither Markdown nor an image',
  not_in_manifest: 'the manifest of the export does not name it',
  no_bytes: 'the export was made without the bytes of the file',
} as const

/** A source that cannot be read or is not safe to read. The message is for the person who imports. */
export class SourceError extends Error {}

/** The UTF-8 text of a file, without its byte order mark. Rejects with a SourceError when the file is not UTF-8. */
export async function readSourceText(source: ImportSource, name: string, limit = textLimit): Promise<string> {
  const bytes = await source.read(name, limit)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new SourceError(`${name} is not UTF-8`, { cause })
  }
}

/**
 * The files of a folder and of all folders below it. Skips hidden files and folders, `node_modules`, and symbolic
 * links, which can lead anywhere. Rejects with a SourceError when the folder cannot be read.
 */
export async function openFolder(path: string): Promise<ImportSource> {
  const root = resolve(path)
  const paths = new Map<string, string>()
  const skipped: Skipped[] = []
  await list(root, '', { paths, skipped })
  return {
    name: basename(root),
    names: new Set(paths.keys()),
    skipped,
    async read(name, limit) {
      const file = paths.get(name)
      if (file === undefined) throw new SourceError(`there is no ${name}`)
      return readable(name, async () => {
        const handle = await open(join(root, file), constants.O_RDONLY | constants.O_NOFOLLOW)
        return collect(handle.createReadStream(), { name, limit })
      })
    },
    async close() {},
  }
}

type Found = { paths: Map<string, string>; skipped: Skipped[] }

async function list(root: string, directory: string, found: Found): Promise<void> {
  const entries = await readable(directory, () => readdir(join(root, directory), { withFileTypes: true }))
  for (const entry of entries) {
    const path = directory === '' ? entry.name : `${directory}/${entry.name}`
    const reason = skipReasonOf(entry)
    if (reason !== null) found.skipped.push({ name: entry.isDirectory() ? `${path}/` : path, reason })
    else if (entry.isDirectory()) await list(root, path, found)
    else found.paths.set(path.normalize('NFC'), path)
  }
}

// A file may be unreadable or gone by now. Such a fault of the source becomes a SourceError, which ends only the import
// of the file.
async function readable<T>(name: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (cause) {
    if (cause instanceof SourceError) throw cause
    const { code } = cause as NodeJS.ErrnoException
    throw new SourceError(`${name || 'the folder'} cannot be read${code === undefined ? '' : ` (${code})`}`, { cause })
  }
}

function skipReasonOf(entry: Dirent): ImportSkipReason | null {
  if (entry.isSymbolicLink()) return 'symbolic_link'
  if (entry.name.startsWith('.')) return 'hidden'
  if (entry.name === 'node_modules') return 'node_modules'
  return entry.isDirectory() || entry.isFile() ? null : 'special_file'
}

/**
 * The files of a zip. Rejects the whole archive with a SourceError when a name is absolute, leads out of the archive or
 * occurs twice. Also rejects the archive when an entry is encrypted or a symbolic link, and when the archive exceeds
 * the limits.
 */
export async function openZip(path: string, limits: ZipLimits = zipLimits): Promise<ImportSource> {
  const zip = await openPromise(path, { autoClose: false, lazyEntries: true, strictFileNames: true }).catch(refused)
  const entries = new Map<string, Entry>()
  let bytes = 0
  try {
    for await (const entry of zip.eachEntry()) {
      if (entry.fileName.endsWith('/')) continue
      requireSafe(entry)
      const name = entry.fileName.normalize('NFC')
      if (entries.has(name)) throw new SourceError(`the archive has ${name} twice`)
      entries.set(name, entry)
      bytes += entry.uncompressedSize
      if (entries.size > limits.files) throw new SourceError(`the archive has more than ${limits.files} files`)
      if (bytes > limits.bytes) throw new SourceError(`the archive unpacks to more than ${limits.bytes} bytes`)
    }
  } catch (error) {
    zip.close()
    return refused(error)
  }
  return {
    name: basename(path, extname(path)),
    names: new Set(entries.keys()),
    skipped: [],
    async read(name, limit) {
      const entry = entries.get(name)
      if (entry === undefined) throw new SourceError(`there is no ${name}`)
      if (entry.uncompressedSize > limit) throw new SourceError(`${name} has more than ${limit} bytes`)
      const data = await zip.openReadStreamPromise(entry).then((stream) => collect(stream, { name, limit }), refused)
      if (crc32(data) !== entry.crc32) throw new SourceError(`${name} is damaged`)
      return data
    },
    async close() {
      zip.close()
    },
  }
}

function requireSafe(entry: Entry): void {
  if (((entry.externalFileAttributes >>> 16) & fileType) === symbolicLink) {
    throw new SourceError(`${entry.fileName} is a symbolic link`)
  }
  if (!entry.canDecodeFileData())
    throw new SourceError(`${entry.fileName} is encrypted or compressed in an unknown way`)
}

function refused(cause: unknown): never {
  if (cause instanceof SourceError) throw cause
  const reason = cause instanceof Error ? cause.message : String(cause)
  throw new SourceError(`the archive cannot be read: ${reason}`, { cause })
}

// All bytes of a stream. Rejects with a SourceError when there are more bytes than the limit.
async function collect(stream: Readable, file: { name: string; limit: number }): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > file.limit) throw new SourceError(`${file.name} has more than ${file.limit} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
