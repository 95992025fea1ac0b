import { type FileHandle, open, readFile, rm } from 'node:fs/promises'
import { newId } from '../schema/ids.ts'
import { ImportError } from './refusals.ts'

/** The source and the destination of an import. An import with another target cannot continue from its state. */
export type ImportTarget = { origin: string; fingerprint: string; knowledgeBase: number | null }

/** A document that exists in the service. `written` is true when the document has its final body. */
export type ImportedDocument = { id: string; version: string; written: boolean }

/** How an import ended: it did everything, the service refused to continue, or it was interrupted. */
export type ImportEnd = 'finished' | 'refused' | 'interrupted'

/**
 * The notes of an import: a file with a line of JSON for each thing that exists in the service. A line is appended
 * before the next request, so a killed import continues where it was. A thing that was made but not noted is found
 * again through its idempotency key, which contains the id of the run.
 *
 * The file is made just before the first request that writes. The file is removed again when the service refuses this
 * request: an import that has made nothing leaves nothing behind.
 */
export class ImportState {
  knowledgeBase: number | null
  readonly folders = new Map<string, number>()
  readonly documents = new Map<string, ImportedDocument>()
  readonly attachments = new Map<string, string>()
  readonly path: string
  /** The start of the interrupted import that this import continues, in ISO 8601; null for a new import. */
  readonly resumedFrom: string | null
  readonly #head: Head
  #file: Promise<FileHandle> | null = null
  #isEmpty = true

  private constructor(options: { path: string; head: Head; resumedFrom: string | null }) {
    this.path = options.path
    this.resumedFrom = options.resumedFrom
    this.#head = options.head
    this.knowledgeBase = options.head.knowledgeBase
  }

  /**
   * Reads the state of an interrupted import, or begins a new state. Throws an ImportError for another import's file.
   */
  static async open(path: string, target: ImportTarget): Promise<ImportState> {
    const [first, ...lines] = await readLines(path)
    if (first === undefined) {
      const head = { run: newId('req'), begun: new Date().toISOString(), ...target }
      return new ImportState({ path, head, resumedFrom: null })
    }
    const head = first as Head
    const differences = differencesOf(head, target)
    if (differences.length > 0) {
      throw new ImportError(
        `${path} is the state of another import, ${differences.join(' and ')}: ` +
          'remove that file to give the other import up, or name another file with --state',
      )
    }
    const state = new ImportState({ path, head, resumedFrom: head.begun ?? 'some time ago' })
    for (const line of lines) state.#take(line as Line)
    return state
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

  /** Closes the file, and removes it when there is nothing to continue. */
  async close(end: ImportEnd): Promise<void> {
    if (this.#file !== null) await (await this.#file).close()
    if (end === 'finished' || (end === 'refused' && this.#isEmpty)) await rm(this.path, { force: true })
  }

  #opened(): Promise<FileHandle> {
    this.#file ??= this.#openFile()
    return this.#file
  }

  async #openFile(): Promise<FileHandle> {
    const file = await open(this.path, 'a', 0o600)
    // A killed process may have left half a line, which a line break ends.
    await file.appendFile(this.resumedFrom === null ? `${JSON.stringify(this.#head)}\n` : '\n')
    return file
  }

  #take(line: Line): void {
    this.#isEmpty = false
    if ('knowledgeBase' in line) this.knowledgeBase = line.knowledgeBase
    else if ('folder' in line) this.folders.set(line.folder, line.id)
    else if ('attachment' in line) this.attachments.set(line.attachment, line.id)
    else this.documents.set(line.document, { id: line.id, version: line.version, written: line.written })
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
  | { attachment: string; id: string }
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
