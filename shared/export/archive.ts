import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { ZipFile } from 'yazl'

// A regular file that its owner can write and everybody can read.
const fileMode = 0o100644

/** The content of a file: bytes, or a stream that produces them as they are read. */
export type ArchiveContent = Buffer | Readable | AsyncIterable<string | Buffer>

/**
 * A zip that is written while it is read. The owner has to read `stream`, which gives the bytes of the zip. The archive
 * takes a file only after it has taken the file before it. So the memory that it needs does not grow with the archive,
 * however slowly the reader reads.
 */
export class Archive {
  readonly stream: Readable
  readonly #zip = new ZipFile() as ZipFile & Entries
  #written: Entry[] = []

  constructor() {
    this.stream = this.#zip.outputStream as Readable
    this.#zip.on('error', (error) => this.stream.destroy(error as Error))
  }

  /** Adds a file. Resolves when the archive has taken it; rejects when reading fails or the archive is closed. */
  async add(name: string, content: ArchiveContent, about: { modified: Date; compress?: boolean }): Promise<void> {
    this.#dropWritten()
    const options = { mtime: about.modified, mode: fileMode, compress: about.compress ?? true }
    const source = Readable.from(Buffer.isBuffer(content) ? pieces(content) : content)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const cancel = () => reject(new Error('the archive is closed', { cause: this.stream.errored }))
    source.once('end', resolve)
    source.once('error', reject)
    this.stream.once('close', cancel)
    try {
      if (this.stream.destroyed) cancel()
      else this.#zip.addReadStreamLazy(name, options, (give) => give(null, source))
      await promise
    } finally {
      this.stream.off('close', cancel)
      source.destroy()
    }
  }

  /** Writes the directory of the zip. Without a directory no program accepts the zip. */
  end(): void {
    this.#zip.entries = [...this.#written, ...this.#zip.entries]
    this.#zip.end()
  }

  /** Gives up the archive: the reader of `stream` gets the error. */
  fail(error: Error): void {
    this.stream.destroy(error)
  }

  // yazl, the library that writes the zip, walks over all its entries at each step. An entry keeps its content in
  // memory, and its name keeps a block of Node's buffer pool there. So of each written entry only its record in the
  // directory is kept.
  #dropWritten(): void {
    const written = this.#zip.entries.splice(0, this.#zip.entries.length - 1)
    for (const entry of written) this.#written.push(new WrittenEntry(entry))
  }
}

// The number of bytes that yazl gets at a time. Their checksum is computed in less than 2 ms.
const pieceBytes = 256 * 1024

// Between two pieces of a large file, the event loop does its other work, since yazl computes checksums on the event
// loop.
async function* pieces(content: Buffer): AsyncGenerator<Buffer> {
  for (let start = 0; start < content.length; start += pieceBytes) {
    if (start > 0) await nextTurn()
    yield content.subarray(start, start + pieceBytes)
  }
}

/** The members of a written entry that yazl uses. */
type Entry = { state: number; getCentralDirectoryRecord: () => Buffer }

type Entries = { entries: Entry[] }

/** An entry reduced to its record in the directory, as a string of bytes, which takes less memory than a buffer. */
class WrittenEntry implements Entry {
  readonly state: number
  readonly #record: string

  constructor(entry: Entry) {
    this.state = entry.state
    this.#record = entry.getCentralDirectoryRecord().toString('latin1')
  }

  getCentralDirectoryRecord(): Buffer {
    return Buffer.from(this.#record, 'latin1')
  }
}
