import { type FileHandle, open, readFile, rm } from 'node:fs/promises'
import { newId } from '../schema/ids.ts'
import { ImportError } from './refusals.ts'

/** The source and the destination of an import. An import with another target cannot continue from its state. */
export type ImportTarget = { origin: string; fingerprint: string; knowledgeBase: number | null }

/**
 * A document that exists in the service. `body` and `metadata` are the hashes of what the import has written last;
 * `body` is null while the document is empty because its body names things whose ids are not known yet.
 */
export type ImportedDocument = { id: string; version: string; body: string | null; metadata: string }

/** An attachment that exists in the service, and the hash of its bytes. */
type ImportedFile = { id: string; hash: string }

/** How an import ended: it did everything, the service refused to continue, or it was interrupted. */
export type ImportEnd = 'finished' | 'refused' | 'interrupted'

/**
 * The notes of an import: a file with a line of JSON for each thing that exists in the service. A line is appended
 * before the next request, so a killed import continues where it was. A thing that was made but not noted is found
 * again through its idempotency key, which contains the id of the run.
 *
 * The file is made just before the first request that writes. The file is removed again when the service refuses this
 * request: an import that has made nothing leaves nothing behind. It stays behind a finished import, so that the next
 * import of the source makes only what is new. It has a head for each import with another target.
 */
export class ImportState {
  knowledgeBase: number | null
  readonly folders = new Map<string, number>()
  readonly documents = new Map<string, ImportedDocument>()
  readonly attachments = new Map<string, ImportedFile>()
  readonly path: string
  /** The start of the interrupted import that this import continues, in ISO 8601; null for a new import. */
  readonly resumedFrom: string | null
  /** The end of the import of the same source that this import repeats, in ISO 8601; null without such an import. */
  finished: string | null = null
  readonly #head: Head
  readonly #isFirst: boolean
  #file: Promise<FileHandle> | null = null
  #isEmpty = true

  private constructor(options: { path: string; head: Head; resumedFrom: string | null; isFirst: boolean }) {
    this.path = options.path
    this.resumedFrom = options.resumedFrom
    this.#isFirst = options.isFirst
    this.#head = options.head
    this.knowledgeBase = options.head.knowledgeBase
  }

  /**
   * Reads the state of an interrupted or finished import, or begins a new state. Throws an ImportError for the file of
   * another import that was interrupted. With `again`, a finished import does not count.
   */
  static async open(path: string, target: ImportTarget, again = false): Promise<ImportState> {
    const runs = new Map<string, { head: Head; lines: Line[] }>()
    let last: { head: Head; lines: Line[] } | undefined
    for (const line of (await readLines(path)) as (Head | Line)[]) {
      if ('run' in line) last = runs.get(line.run) ?? { head: line, lines: [] }
      else last?.lines.push(line)
      if ('run' in line && last !== undefined) runs.set(line.run, last)
    }
    const isFinished = ({ lines }: { lines: Line[] }) => lines.some((line) => 'finished' in line)
    const known = [...runs.values()].findLast((one) => {
      const { fingerprint } = isFinished(one) ? target : one.head
      return differencesOf({ ...one.head, fingerprint }, target).length === 0 && !(again && isFinished(one))
    })
    if (known !== undefined) {
      const resumedFrom = isFinished(known) ? null : (known.head.begun ?? 'some time ago')
      const state = new ImportState({ path, head: known.head, resumedFrom, isFirst: false })
      for (const line of known.lines) state.#take(line)
      return state
    }
    if (last !== undefined && !isFinished(last)) {
      throw new ImportError(
        `${path} is the state of another import, ${differencesOf(last.head, target).join(' and ')}: ` +
          'remove that file to give the other import up, or name another file with --state',
      )
    }
    const head = { run: newId('req'), begun: new Date().toISOString(), ...target }
    return new ImportState({ path, head, resumedFrom: null, isFirst: last === undefined })
  }

  /** Makes the file if it does not exist, which must happen before a request that writes. Returns the id of the run. */
  async begin(): Promise<string> {
    await this.#opened()
    return this.#head.run
  }

  /** Notes that a thing exists in the service. */
  async note(line: Line): Promise<void> {
    this.#take(line)
    const file = await this.#opened()
    await file.appendFile(`${JSON.stringify(line)}\n`)
  }

  /** Closes the file, and removes it when it is the file of an import that has made nothing. */
  async close(end: ImportEnd): Promise<void> {
    if (end === 'finished') await this.note({ finished: new Date().toISOString() })
    if (this.#file !== null) await (await this.#file).close()
    if (end === 'refused' && this.#isEmpty && this.#isFirst) await rm(this.path, { force: true })
  }

  #opened(): Promise<FileHandle> {
    this.#file ??= this.#openFile()
    return this.#file
  }

  async #openFile(): Promise<FileHandle> {
    const file = await open(this.path, 'a', 0o600)
    // A killed process may have left half a line, which a line break ends.
    await file.appendFile(`${this.#isFirst ? '' : '\n'}${JSON.stringify(this.#head)}\n`)
    return file
  }

  #take(line: Line): void {
    this.#isEmpty = false
    if ('finished' in line) this.finished = line.finished
    else if ('knowledgeBase' in line) this.knowledgeBase = line.knowledgeBase
    else if ('folder' in line) this.folders.set(line.folder, line.id)
    else if ('attachment' in line) this.attachments.set(line.attachment, { id: line.id, hash: line.hash })
    else {
      const { document, ...known } = line
      this.documents.set(document, known)
    }
  }
}

/** The first line of the file. */
type Head = ImportTarget & { run: string; begun?: string }

function differencesOf(head: Head, target: ImportTarget): string[] {
  const base = (id: number | null) => (id === null ? 'a knowledge base of its own' : `knowledge base ${id}`)
  return [
    ...(head.origin === target.origin ? [] : [`into ${head.origin}`]),
    ...(head.fingerprint === target.fingerprint ? [] : ['of another source']),
    ...(head.knowledgeBase === target.knowledgeBase ? [] : [`into ${base(head.knowledgeBase)}`]),
  ]
}

type Line =
  | { knowledgeBase: number }
  | { folder: string; id: number }
  | ({ attachment: string } & ImportedFile)
  | { finished: string }
  | ({ document: string } & ImportedDocument)

async function readLines(path: string): Promise<unknown[]> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
  return text.split('\n').flatMap((line) => {
    try {
      return line === '' ? [] : [JSON.parse(line) as unknown]
    } catch {
      // A killed process has left half a line, which is passed over.
      return []
    }
  })
}
