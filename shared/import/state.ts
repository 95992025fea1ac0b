import { type FileHandle, open, readFile, rm } from 'node:fs/promises'
import { newId } from '../ids.ts'
import { ImportError } from './service-client.ts'

/** What an import is of and where it goes; another one cannot go on with its state. */
export type Target = { origin: string; fingerprint: string; knowledgeBase: number | null }

/** A document that exists in the service; `written` once its body is what it should be. */
export type ImportedDocument = { id: string; version: string; written: boolean }

/**
 * What an import has done so far, in a file of one JSON line for each thing that exists now. It is appended before the
 * next thing is asked for, so whoever is killed goes on where he was; what was done and not noted is found again through
 * the idempotency keys, which are made from `run`.
 */
export class ImportState {
  readonly run: string
  knowledgeBase: number | null = null
  readonly folders = new Map<string, number>()
  readonly documents = new Map<string, ImportedDocument>()
  readonly attachments = new Map<string, string>()
  readonly isResumed: boolean
  readonly #path: string
  readonly #file: FileHandle

  private constructor(options: { path: string; file: FileHandle; run: string; isResumed: boolean }) {
    this.#path = options.path
    this.#file = options.file
    this.run = options.run
    this.isResumed = options.isResumed
  }

  /** Opens the state of an import, or begins it; refuses a file that belongs to another import. */
  static async open(path: string, target: Target): Promise<ImportState> {
    const [first, ...lines] = await readLines(path)
    if (first === undefined) return ImportState.#begin(path, target)
    const { run, ...of } = first as { run: string }
    if (JSON.stringify(of) !== JSON.stringify(target)) {
      throw new ImportError(`${path} is the state of another import: remove it, or name another file with --state`)
    }
    const state = new ImportState({ path, file: await open(path, 'a'), run, isResumed: true })
    // A line that was cut off is not gone on with.
    await state.#file.write('\n')
    for (const line of lines) state.#take(line as Line)
    return state
  }

  static async #begin(path: string, target: Target): Promise<ImportState> {
    const state = new ImportState({ path, file: await open(path, 'w', 0o600), run: newId('req'), isResumed: false })
    await state.#file.write(`${JSON.stringify({ run: state.run, ...target })}\n`)
    return state
  }

  /** Notes that something exists. */
  async note(line: Line): Promise<void> {
    this.#take(line)
    await this.#file.appendFile(`${JSON.stringify(line)}\n`)
  }

  /** Ends the import: a finished one leaves nothing behind. */
  async close(options: { finished: boolean }): Promise<void> {
    await this.#file.close()
    if (options.finished) await rm(this.#path, { force: true })
  }

  #take(line: Line): void {
    if ('knowledgeBase' in line) this.knowledgeBase = line.knowledgeBase
    else if ('folder' in line) this.folders.set(line.folder, line.id)
    else if ('attachment' in line) this.attachments.set(line.attachment, line.id)
    else this.documents.set(line.document, { id: line.id, version: line.version, written: line.written })
  }
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
      // The last line of a process that was killed while it wrote.
      return []
    }
  })
}
