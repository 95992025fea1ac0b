import { randomUUID } from 'node:crypto'
import {
  closeSync,
  constants,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname, join, sep } from 'node:path'
import { readLocal, statOf, uncertainMs } from './local-scan.ts'
import { conflictPath, directoryOf, isVisible, stateFolder } from './paths.ts'
import type { FileStat } from './sides.ts'
import { hashOf, type SyncState } from './state.ts'

/** A file is not what it was when the sync read it. Nothing was written, and the next round looks again. */
export class FileChanged extends Error {}

/** The expected file of a document: the hash of the file, and the id of the document. */
export type ExpectedFile = { hash: string; id: string }

/** `rescued` are the paths of files that were added to or brought back, `copies` those of new copies. */
export type RescueResult = { rescued: string[]; copies: string[] }

/**
 * Writes, moves and deletes files below a folder. A file is written as a whole or not at all, and only if it is still
 * what was read. A program that had the file open may write to the replaced file, at any time. So that file is kept for
 * a day after its last change, and `settle` looks at it.
 */
export class LocalWriter {
  readonly #root: string
  readonly #kept: string
  readonly #parts: string

  constructor(root: string) {
    this.#root = root
    this.#kept = join(root, stateFolder, 'replaced')
    this.#parts = join(root, stateFolder, 'written')
    mkdirSync(this.#kept, { recursive: true })
    rmSync(this.#parts, { recursive: true, force: true })
    mkdirSync(this.#parts)
  }

  /** Writes a file; null expects that there is none. Throws a FileChanged if the path is not as expected. */
  async write(path: string, text: string, expected: ExpectedFile | null): Promise<{ hash: string; stat: FileStat }> {
    const target = this.#placeOf(path)
    mkdirSync(dirname(target), { recursive: true })
    const written = join(this.#parts, randomUUID())
    try {
      const mode = expected === null ? 0o666 : lstatSync(target, { throwIfNoEntry: false })?.mode
      const file = await open(written, 'wx', mode)
      try {
        await file.writeFile(text)
        await file.datasync()
      } finally {
        await file.close()
      }
      if (expected === null) this.#placeNew(written, path)
      else {
        this.#keep(path, expected)
        renameSync(written, target)
      }
      const hash = hashOf(text)
      return { hash, stat: statOf(lstatSync(target), Date.now()) }
    } finally {
      rmSync(written, { force: true })
    }
  }

  /** Moves a file to a path that is free. Throws a FileChanged if the file has changed or the path is taken. */
  move(from: string, to: string, expected: string): void {
    const [source, target] = [this.#placeOf(from), this.#placeOf(to)]
    mkdirSync(dirname(target), { recursive: true })
    this.#require(from, expected)
    const there = lstatSync(target, { throwIfNoEntry: false })
    // On a file system without case, the new name may be another spelling of the old name.
    if (there !== undefined && there.ino !== lstatSync(source).ino) throw new FileChanged(`${to} exists`)
    renameSync(source, target)
    this.#removeEmpty(directoryOf(from))
  }

  /** Deletes a file. Throws a FileChanged if the file has changed. */
  remove(path: string, expected: ExpectedFile): void {
    const target = this.#placeOf(path)
    this.#require(path, expected.hash)
    const kept = this.#keptPath(expected, lstatSync(target).size)
    renameSync(target, kept)
    // Somebody may have saved another file under the name just now.
    if (hashOf(readFileSync(kept)) !== expected.hash) {
      if (lstatSync(target, { throwIfNoEntry: false }) === undefined) renameSync(kept, target)
      throw new FileChanged(`${path} has changed`)
    }
    this.#removeEmpty(directoryOf(path))
  }

  /**
   * Looks at the files that were replaced or deleted. What a program has added to such a file since is added to the
   * file in its place. If there is none, the file itself is brought back. If the program has written it anew, its text
   * is kept as a copy. A crash right after the addition repeats the addition.
   */
  async settle({ entries, gone }: Pick<SyncState, 'entries' | 'gone'>): Promise<RescueResult> {
    const found: RescueResult = { rescued: [], copies: [] }
    for (const name of readdirSync(this.#kept)) {
      const [, at = '', length = '', hash, id = ''] = keptName.exec(name) ?? []
      if (hash === undefined) continue
      const [kept, size] = [join(this.#kept, name), Number(length)]
      const stat = lstatSync(kept)
      const isCertain = stat.size === size && stat.mtimeMs < Number(at) - uncertainMs
      const bytes = isCertain ? null : readFileSync(kept)
      if (bytes === null || hashOf(bytes) === hash) {
        if (Number(at) < Date.now() - keptMs) rmSync(kept)
        continue
      }
      const path = (entries.get(id) ?? gone.get(id))?.path ?? `${id}.md`
      const target = this.#placeOf(path)
      const isGrown = bytes.length > size && hashOf(bytes.subarray(0, size)) === hash
      if (lstatSync(target, { throwIfNoEntry: false }) === undefined) {
        mkdirSync(dirname(target), { recursive: true })
        this.#placeNew(kept, path)
        rmSync(kept, { force: true })
        found.rescued.push(path)
        continue
      }
      if (isGrown && entries.has(id)) {
        append(target, bytes, size)
        found.rescued.push(path)
      } else found.copies.push(await this.keepCopy(path, bytes.toString('utf8')))
      renameSync(kept, this.#keptPath({ hash: hashOf(bytes), id }, bytes.length))
    }
    return found
  }

  /**
   * Writes a text beside a file as the copy of a conflict. Returns the path of the copy. Throws a FileChanged if the
   * copy cannot be written, since nothing may take the place of a text that was not kept.
   */
  async keepCopy(path: string, text: string): Promise<string> {
    const copy = conflictPath(path, text)
    await this.write(copy, text, null).catch((error) => {
      // The name of a copy tells its text, so the copy may be there already.
      if (!(error instanceof FileChanged) || !this.#has(copy, text)) throw error
    })
    return copy
  }

  #has(path: string, text: string): boolean {
    try {
      return readLocal(this.#root, path).hash === hashOf(text)
    } catch {
      return false
    }
  }

  // Gives the file at a path a second name, and then makes sure that the file is as expected.
  #keep(path: string, expected: ExpectedFile): void {
    const target = join(this.#root, path)
    let kept: string
    try {
      kept = this.#keptPath(expected, lstatSync(target).size)
      linkSync(target, kept)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw new FileChanged(`${path} is gone`)
      // Some file systems have no second names. There, a file that changes at this moment cannot be rescued.
      this.#require(path, expected.hash)
      return
    }
    const isExpected = hashOf(readFileSync(kept)) === expected.hash
    if (isExpected && lstatSync(target, { throwIfNoEntry: false })?.ino === lstatSync(kept).ino) return
    rmSync(kept)
    throw new FileChanged(`${path} has changed`)
  }

  // The name of a kept file tells when its content was read, and what that was.
  #keptPath({ hash, id }: ExpectedFile, size: number): string {
    return join(this.#kept, `${Date.now()}-${size}-${hash}-${randomUUID()}-${id}`)
  }

  #require(path: string, expected: string): void {
    try {
      if (readLocal(this.#root, path).hash === expected) return
    } catch (error) {
      throw new FileChanged(`${path} cannot be read`, { cause: error })
    }
    throw new FileChanged(`${path} has changed`)
  }

  #placeNew(written: string, path: string): void {
    const target = join(this.#root, path)
    try {
      linkSync(written, target)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      const isThere = lstatSync(target, { throwIfNoEntry: false }) !== undefined
      if (code === 'EEXIST' || isThere) throw new FileChanged(`${path} exists`)
      renameSync(written, target)
    }
  }

  // Where a file is on the disk. A path that leads out of the folder, or to a hidden file, is a bug in this
  // program. A symbolic link on the way could lead out of the folder as well.
  #placeOf(path: string): string {
    const isInside = path.split('/').every((name) => name !== '' && isVisible(name) && !/\0/.test(name))
    if (!isInside || (sep !== '/' && path.includes(sep))) throw new Error(`${path} is not inside the synced folder`)
    for (let directory = directoryOf(path); directory !== ''; directory = directoryOf(directory)) {
      const stat = lstatSync(join(this.#root, directory), { throwIfNoEntry: false })
      if (stat?.isDirectory() === false) throw new FileChanged(`${directory} is not a folder`)
    }
    return join(this.#root, path)
  }

  #removeEmpty(directory: string): void {
    for (let path = directory; path !== ''; path = directoryOf(path)) {
      try {
        rmdirSync(join(this.#root, path))
      } catch {
        return
      }
    }
  }
}

const keptName = /^(\d+)-(\d+)-([0-9a-f]{64})-[0-9a-f-]{36}-(doc_[A-Za-z0-9_-]+)$/
// How long a replaced file is kept after its last change.
const keptMs = 24 * 60 * 60 * 1000

// Adds what stands behind `size` bytes to a file. What began a line begins a line again.
function append(target: string, bytes: Buffer, size: number): void {
  const file = openSync(target, constants.O_RDWR | constants.O_APPEND | constants.O_NOFOLLOW)
  try {
    const isOpenLine = readFileSync(file).at(-1) !== newLine && bytes[size - 1] === newLine
    writeSync(file, Buffer.concat([Buffer.from(isOpenLine ? '\n' : ''), bytes.subarray(size)]))
  } finally {
    closeSync(file)
  }
}

const newLine = 0x0a
