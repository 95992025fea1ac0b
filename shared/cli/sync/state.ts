import { createHash, randomUUID } from 'node:crypto'
import {
  appendFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { Failure } from '../frame/failures.ts'
import type { Labels } from './labels.ts'
import { noLinks } from './links.ts'
import { stateFolder } from './paths.ts'
import type { Entry, KnownFolder } from './sides.ts'

/** What a folder is synced with: a knowledge base of a service, or a folder of it. */
export type SyncTarget = { origin: string; knowledge_base_id: number; folder_id: number | null }

/** What was noted of a document that a sync has found deleted, and when, in Unix milliseconds. */
type GoneEntry = Entry & { goneAt: number }

/**
 * A file whose text a sync has begun to write into its document, which nobody else had changed. `hash` is that of the
 * file. `body` is the hash under which the state keeps the text, and `labels` are those that the document gets.
 */
type BegunWrite = { id: string; hash: string; body: string; labels: Labels }

/** A change of the state. A later change of the same thing takes the place of an earlier change. */
export type StateChange =
  | { entry: Entry }
  | { forget: string }
  | { gone: GoneEntry }
  | { forgetGone: string }
  | { folder: KnownFolder }
  | { forgetFolder: number }
  | { creating: { path: string; id: string } }
  | { created: string }
  | { writing: BegunWrite }

const format = 1
// How long a deleted document is remembered. A trash keeps documents for 30 days, unless its operator wants otherwise.
const goneMs = 90 * 24 * 60 * 60 * 1000

/**
 * The state of the last sync of a folder, below `.knowledge-base/`. It is a log with a line of JSON for each change,
 * and the bodies of the last sync as Markdown. A line is appended as soon as both sides have what it says. So a killed
 * sync continues where it was: a line that was not written in full is left out, and its document is compared again.
 */
export class SyncState {
  readonly target: SyncTarget
  readonly entries = new Map<string, Entry>()
  /** Documents that were deleted, so that they are restored when their files come back. */
  readonly gone = new Map<string, GoneEntry>()
  readonly folders = new Map<number, KnownFolder>()
  /** The ids of documents that a sync has begun to create, by the paths of their files. */
  readonly creating = new Map<string, string>()
  /** The writes that a sync has begun, by the ids of their documents, until the state knows how they have ended. */
  readonly writing = new Map<string, BegunWrite>()
  readonly #directory: string
  #lines = 0

  private constructor(directory: string, target: SyncTarget) {
    this.#directory = directory
    this.target = target
  }

  /**
   * The target of the state in a folder; null if the folder was never synced. Throws if a newer program has written it,
   * or if it is or has a symbolic link, which could lead out of the folder.
   */
  static targetOf(root: string): SyncTarget | null {
    const directory = join(root, stateFolder)
    const isDirectory = lstatSync(directory, { throwIfNoEntry: false })?.isDirectory()
    const names = isDirectory ? readdirSync(directory) : []
    if (isDirectory === false || names.some((name) => lstatSync(join(directory, name)).isSymbolicLink())) {
      const message = `${directory} cannot be used: it is not a folder, or it contains a symbolic link.`
      throw new Failure('usage', 'linked_state', { message, hint: 'Remove it. The next sync makes another.' })
    }
    const [head] = readLines(join(root, stateFolder))
    if (head === undefined) return null
    const { format: written, ...target } = head as SyncTarget & { format: number }
    if (written !== format) throw new Error(`${stateFolder} was written by another version of this program`)
    return target
  }

  /** Reads the state of a folder, and writes nothing. */
  static read(root: string, target: SyncTarget): SyncState {
    const directory = join(root, stateFolder)
    const state = new SyncState(directory, target)
    for (const line of readLines(directory).slice(1)) state.#take(line as StateChange)
    return state
  }

  /** Opens the state of a folder, or begins it. */
  static open(root: string, target: SyncTarget): SyncState {
    const directory = join(root, stateFolder)
    mkdirSync(join(directory, 'texts'), { recursive: true })
    // A folder of Markdown is often a Git repository, to which the state does not belong.
    if (!existsSync(join(directory, '.gitignore'))) writeFileSync(join(directory, '.gitignore'), '*\n')
    const state = SyncState.read(root, target)
    state.#compact()
    return state
  }

  /** Notes a change. It is on its way to the disk when the call returns. */
  note(change: StateChange): void {
    this.#take(change)
    this.#lines += 1
    appendFileSync(join(this.#directory, logName), `${JSON.stringify(change)}\n`)
  }

  /** Keeps a text. Returns its hash, under which it can be read again while an entry names it. */
  keepText(text: string): string {
    const hash = hashOf(text)
    const path = this.#textPath(hash)
    // A text that was damaged when the machine lost its power is written again.
    if (this.text(hash) !== null) return hash
    const written = join(this.#directory, `text-${randomUUID()}`)
    writeFileSync(written, text)
    renameSync(written, path)
    return hash
  }

  /** The text with a hash; null if it is missing or damaged. */
  text(hash: string): string | null {
    try {
      const text = readFileSync(this.#textPath(hash), 'utf8')
      return hashOf(text) === hash ? text : null
    } catch {
      return null
    }
  }

  /** Writes the log anew and removes texts that nothing names, when there are many superfluous lines or texts. */
  tidy(): void {
    if (this.#lines > 2 * (this.entries.size + this.gone.size + this.folders.size) + 100) this.#compact()
    const naming = [...this.entries.values(), ...this.gone.values(), ...this.writing.values()]
    const named = new Set(naming.map(({ body }) => body))
    const kept = readdirSync(join(this.#directory, 'texts'))
    if (kept.length < 2 * named.size + 100) return
    for (const hash of kept) if (!named.has(hash)) rmSync(this.#textPath(hash), { force: true })
  }

  #take(change: StateChange): void {
    // Older programs have noted no links, or no headings.
    if ('entry' in change) {
      this.writing.delete(change.entry.id)
      const { copyOf } = this.entries.get(change.entry.id) ?? {}
      this.entries.set(change.entry.id, { ...noLinks, copyOf, ...change.entry })
      this.gone.delete(change.entry.id)
    } else if ('gone' in change) {
      this.writing.delete(change.gone.id)
      this.entries.delete(change.gone.id)
      this.gone.set(change.gone.id, change.gone)
    } else if ('forgetGone' in change) this.gone.delete(change.forgetGone)
    else if ('forget' in change) {
      this.writing.delete(change.forget)
      this.entries.delete(change.forget)
    } else if ('folder' in change) this.folders.set(change.folder.id, change.folder)
    else if ('forgetFolder' in change) this.folders.delete(change.forgetFolder)
    else if ('creating' in change) this.creating.set(change.creating.path, change.creating.id)
    else if ('writing' in change) this.writing.set(change.writing.id, change.writing)
    else this.creating.delete(change.created)
  }

  #compact(): void {
    const changes: object[] = [
      { format, ...this.target },
      ...[...this.entries.values()].map((entry) => ({ entry })),
      ...[...this.gone.values()].filter(({ goneAt }) => goneAt > Date.now() - goneMs).map((gone) => ({ gone })),
      ...[...this.folders.values()].map((folder) => ({ folder })),
      ...[...this.creating].map(([path, id]) => ({ creating: { path, id } })),
      ...[...this.writing.values()].map((writing) => ({ writing })),
    ]
    const written = join(this.#directory, `log-${randomUUID()}`)
    writeFileSync(written, changes.map((change) => `${JSON.stringify(change)}\n`).join(''))
    renameSync(written, join(this.#directory, logName))
    this.#lines = changes.length
  }

  #textPath(hash: string): string {
    return join(this.#directory, 'texts', hash)
  }
}

/** The SHA-256 of a text in UTF-8, in hexadecimal digits. */
export function hashOf(text: string | Uint8Array): string {
  return createHash('sha256').update(text).digest('hex')
}

const logName = 'state.jsonl'

// A line that was not written in full can only be the last line.
function readLines(directory: string): unknown[] {
  const path = join(directory, logName)
  if (!existsSync(path)) return []
  return readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((line) => {
      try {
        return line === '' ? [] : [JSON.parse(line) as unknown]
      } catch {
        return []
      }
    })
}
