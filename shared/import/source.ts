import { constants, type Dirent } from 'node:fs'
import { open, readdir } from 'node:fs/promises'
import { basename, extname, join, resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { crc32 } from 'node:zlib'
import { type Entry, openPromise } from 'yauzl'

/**
 * What is imported: files under names with `/` between folders, whether they stand in a folder or in a zip. Names are in
 * Unicode form NFC, as links in texts are, and never lead out of the source.
 */
export type Source = {
  /** What the source is called, for a knowledge base that is made for it. */
  readonly name: string
  readonly names: ReadonlySet<string>
  /** What the source has and does not offer: hidden files, links to elsewhere. A folder stands for all that it holds. */
  readonly skipped: readonly Skipped[]
  /** The bytes of a file; a SourceError when there are more than the limit or they are damaged. */
  read: (name: string, limit: number) => Promise<Buffer>
  close: () => Promise<void>
}

/** A file or folder that is not imported, and why. */
export type Skipped = { name: string; reason: SkipReason }

export type SkipReason = keyof typeof skipReasons

/** Why something of a source is not imported, in words for the person who imports. */
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

/** A source that cannot be read or is not safe to read; the message is for the person who named it. */
export class SourceError extends Error {}

// Of a text, in bytes: far more than a document may have.
const textLimit = 32 * 1024 * 1024

/** The text of a file in UTF-8, without a byte order mark. */
export async function readText(source: Source, name: string, limit = textLimit): Promise<string> {
  const bytes = await source.read(name, limit)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new SourceError(`${name} is not UTF-8`, { cause })
  }
}

/** All bytes of a stream, unless they are more than the limit. */
export async function collect(stream: Readable, file: { name: string; limit: number }): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > file.limit) throw new SourceError(`${file.name} has more than ${file.limit} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/**
 * The files of a folder and those below it. Hidden files and folders are skipped, as is `node_modules`; symbolic links
 * are not followed, since they can lead anywhere.
 */
export async function openFolder(path: string): Promise<Source> {
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

// A file that others forbid to read, or that is gone by now, is no fault of the import.
async function readable<T>(name: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (cause) {
    if (cause instanceof SourceError) throw cause
    const { code } = cause as NodeJS.ErrnoException
    throw new SourceError(`${name || 'the folder'} cannot be read${code === undefined ? '' : ` (${code})`}`, { cause })
  }
}

function skipReasonOf(entry: Dirent): SkipReason | null {
  if (entry.isSymbolicLink()) return 'symbolic_link'
  if (entry.name.startsWith('.')) return 'hidden'
  if (entry.name === 'node_modules') return 'node_modules'
  return entry.isDirectory() || entry.isFile() ? null : 'special_file'
}

/**
 * The files of a zip. An archive is refused as a whole when a name is absolute, leads out of it or occurs twice, when an
 * entry is a symbolic link or encrypted, or when it would unpack to more than anybody exports.
 */
export async function openZip(path: string, limits: ZipLimits = zipLimits): Promise<Source> {
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

type ZipLimits = { files: number; bytes: number }

// Files are read one by one and each has a limit of its own; these stop what is nothing but a bomb.
const zipLimits: ZipLimits = { files: 1_000_000, bytes: 64 * 1024 ** 3 }

// The upper half of the attributes is a Unix mode, where the archive was made by a system that has modes.
const fileType = 0o170000
const symbolicLink = 0o120000

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
