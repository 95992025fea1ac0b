import { Readable } from 'node:stream'
import { ZipFile } from 'yazl'

/** What a file holds: bytes at hand, or made as they are asked for. */
export type Content = Buffer | Readable | AsyncIterable<string | Buffer>

/**
 * A zip that is written while it is read. `stream` gives its bytes and has to be read; a file is taken only when the one
 * before it has been, so that what waits in memory does not grow with the archive, however slowly it is read.
 */
export class Archive {
  readonly stream: Readable
  readonly #zip = new ZipFile() as ZipFile & Entries
  #written: Entry[] = []

  constructor() {
    this.stream = this.#zip.outputStream as Readable
    this.#zip.on('error', (error) => this.stream.destroy(error as Error))
  }

  /** Adds a file; resolves when its content has been taken, rejects when that fails or the archive is closed. */
  async add(name: string, content: Content, about: { modified: Date; compress?: boolean }): Promise<void> {
    this.#setAside()
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

  /** Writes the directory of the archive, without which nobody takes it for whole. */
  end(): void {
    this.#zip.entries = [...this.#written, ...this.#zip.entries]
    this.#zip.end()
  }

  /** Gives up: whoever reads `stream` sees it fail. */
  fail(error: Error): void {
    this.stream.destroy(error)
  }

  // yazl walks over every entry it has at each step, and each keeps alive its content and, by its name, a slab of the
  // buffer pool. So those that are written leave nothing behind but their line in the directory.
  #setAside(): void {
    const written = this.#zip.entries.splice(0, this.#zip.entries.length - 1)
    for (const entry of written) this.#written.push(new WrittenEntry(entry))
  }
}

/** What yazl asks of an entry that it has written. */
type Entry = { state: number; getCentralDirectoryRecord: () => Buffer }

type Entries = { entries: Entry[] }

/** An entry reduced to its record in the directory, as a string of bytes, which takes less room than a buffer. */
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

// A regular file that its owner writes and everybody reads.
const fileMode = 0o100644
