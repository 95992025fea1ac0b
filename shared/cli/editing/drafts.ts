import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { Failure } from '../frame/failures.ts'
import { decoded } from './texts.ts'

/** The body of a document that an edit began with, or that it was last merged with. */
export type Base = { origin: string; document_id: string; version: string; markdown: string }

/** A file with a text that a person has written, of which a document cannot keep everything. `losses` says what. */
export type Copy = { file: string; losses: readonly string[] }

/**
 * What a person writes in an editor: a file with the text, and beside it the body that the text began with. Both stay
 * until the text is stored in the service, so that no failure loses the text and a later run can go on.
 */
export class Draft {
  /** The absolute path of the file that the editor opens. */
  readonly file: string
  #base: Base
  readonly #copies = new Map<string, Copy>()

  private constructor(file: string, base: Base) {
    this.file = file
    this.#base = base
  }

  /** Makes the files of a new draft in a folder that only this user can read. */
  static async begin(base: Base, title: string): Promise<Draft> {
    const folder = await mkdtemp(join(tmpdir(), 'knowledge-base-edit-'))
    const words = title.replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-|-$/g, '')
    const name = [...words].slice(0, 50).join('')
    const draft = new Draft(join(folder, `${name || 'document'}.md`), base)
    await draft.write(base.markdown)
    await draft.rebase(base)
    return draft
  }

  /** Opens the draft that an earlier run has left at `file`. Throws a Failure if no draft is there. */
  static async resume(file: string): Promise<Draft> {
    const path = resolve(file)
    try {
      return new Draft(path, JSON.parse(await readFile(baseFile(path), 'utf8')) as Base)
    } catch {
      throw new Failure('failed', 'no_draft', { message: `${path} is not the text of an unfinished edit.` })
    }
  }

  get base(): Base {
    return this.#base
  }

  /** The copies that were kept in this run. */
  get copies(): Copy[] {
    return [...this.#copies.values()]
  }

  /** What the person has written. Throws a Failure if it is not in UTF-8. */
  async text(): Promise<string> {
    return decoded(await readFile(this.file))
  }

  /** Replaces the text as a whole: a crash leaves the text of before. */
  write(text: string): Promise<void> {
    return replaceFile(this.file, text)
  }

  /** Keeps a text in a file beside the draft if the service has told of losses. The file outlives the draft. */
  async keepLost(text: string, losses: readonly string[]): Promise<void> {
    if (losses.length === 0) return
    const hash = createHash('sha256').update(text).digest('hex').slice(0, 8)
    const file = `${this.file.replace(/\.md$/, '')}.written-${hash}.md`
    await replaceFile(file, text)
    this.#copies.set(file, { file, losses })
  }

  /** Notes that the text now contains everything of another body. Call it when the text has been written. */
  async rebase(base: Base): Promise<void> {
    this.#base = base
    await replaceFile(baseFile(this.file), JSON.stringify(base))
  }

  /** Whether the person has written anything that the body does not have. */
  async hasChanges(): Promise<boolean> {
    return (await this.text().catch(() => null)) !== this.#base.markdown
  }

  /** Removes the draft, and its folder if no copy is in it. */
  async remove(): Promise<void> {
    await rm(this.file, { force: true })
    await rm(baseFile(this.file), { force: true })
    await rmdir(dirname(this.file)).catch(() => undefined)
  }
}

async function replaceFile(file: string, text: string): Promise<void> {
  await writeFile(`${file}.new`, text, { mode: 0o600 })
  await rename(`${file}.new`, file)
}

function baseFile(file: string): string {
  return `${file}.base.json`
}
