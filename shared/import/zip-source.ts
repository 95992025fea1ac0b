import { basename, extname } from 'node:path'
import { crc32 } from 'node:zlib'
import { type Entry, openPromise } from 'yauzl'
import { collect, type Source, SourceError } from './source.ts'

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
