import { Readable } from 'node:stream'
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
    const source = Buffer.isBuffer(content) ? Readable.from([content], { objectMode: false }) : Readable.from(content)
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

  // At each step yazl walks over all its entries. An entry keeps its content in memory and, through its name, a slab of
  // the buffer pool. So of each written entry only its record in the directory is kept.
  #dropWritten(): void {
    const written = this.#zip.entries.splice(0, this.#zip.entries.length - 1)
    for (const entry of written) this.#written.push(new WrittenEntry(entry))
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
