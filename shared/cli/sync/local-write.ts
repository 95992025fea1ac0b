import { randomUUID } from 'node:crypto'
import { linkSync, lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname, join, posix, sep } from 'node:path'
import { readLocal, statOf } from './local-scan.ts'
import { conflictPath, directoryOf, isVisible, stateFolder } from './paths.ts'
import type { FileStat } from './sides.ts'
import { hashOf } from './state.ts'

/** A file is not what it was when the sync read it. Nothing was written, and the next round looks again. */
export class FileChanged extends Error {}

/** The expected state of a path: the hash of its file, or null if there must be no file. */
export type Expected = string | null

/**
 * Writes, moves and deletes files below a folder. A file is written as a whole or not at all, and only if it is still
 * what was read. A program that had the file open may write to the replaced file. That file is kept until `settle` has
 * looked at it.
 */
export class LocalWriter {
  readonly #root: string
  readonly #kept: string
  readonly #parts: string
  // The paths of replaced files. A later run, after a crash, knows only the names.
  readonly #paths = new Map<string, string>()

  constructor(root: string) {
    this.#root = root
    this.#kept = join(root, stateFolder, 'replaced')
    this.#parts = join(root, stateFolder, 'written')
    mkdirSync(this.#kept, { recursive: true })
    rmSync(this.#parts, { recursive: true, force: true })
    mkdirSync(this.#parts)
  }

  /** Writes a file. Throws a FileChanged if the path is not as expected. */
  async write(path: string, text: string, expected: Expected): Promise<{ hash: string; stat: FileStat }> {
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
  remove(path: string, expected: string): void {
    const target = this.#placeOf(path)
    this.#require(path, expected)
    const kept = this.#keptPath(path, expected)
    renameSync(target, kept)
    // Somebody may have saved another file under the name just now.
    if (hashOf(readFileSync(kept)) !== expected) {
      if (lstatSync(target, { throwIfNoEntry: false }) === undefined) renameSync(kept, target)
      throw new FileChanged(`${path} has changed`)
    }
    this.#removeEmpty(directoryOf(path))
  }

  /**
   * Looks at the files that were replaced or deleted, and removes them. A file that was written to after it was read is
   * kept as a copy in the folder. Returns the paths of such copies.
   */
  async settle(): Promise<string[]> {
    const copies: string[] = []
    for (const name of readdirSync(this.#kept)) {
      const kept = join(this.#kept, name)
      const bytes = readFileSync(kept)
      const path = this.#paths.get(name) ?? name.slice(hashLength + 1 + idLength + 1)
      if (hashOf(bytes) !== name.slice(0, hashLength)) copies.push(await this.keepCopy(path, bytes.toString('utf8')))
      this.#paths.delete(name)
      rmSync(kept, { force: true })
    }
    return copies
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
  #keep(path: string, expected: string): void {
    const [target, kept] = [join(this.#root, path), this.#keptPath(path, expected)]
    try {
      linkSync(target, kept)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw new FileChanged(`${path} is gone`)
      // Some file systems have no second names. There, a file that changes at this moment cannot be rescued.
      this.#require(path, expected)
      return
    }
    const isExpected = hashOf(readFileSync(kept)) === expected
    if (isExpected && lstatSync(target, { throwIfNoEntry: false })?.ino === lstatSync(kept).ino) return
    rmSync(kept)
    throw new FileChanged(`${path} has changed`)
  }

  #keptPath(path: string, expected: string): string {
    const plain = posix
      .basename(path)
      .replace(/[^A-Za-z0-9._-]/g, '_')
      .slice(-100)
    const name = `${expected}-${randomUUID()}-${plain}`
    this.#paths.set(name, path)
    return join(this.#kept, name)
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

  // Where a file is on the disk. A path that leads out of the folder, or to a hidden file, is a mistake of this program.
  // A symbolic link on the way could lead out of the folder as well.
  #placeOf(path: string): string {
    const isInside = path.split('/').every((name) => name !== '' && isVisible(name) && !/\0/.test(name))
    if (!isInside || (sep !== '/' && path.includes(sep))) throw new Error(`${path} is no file of the synced folder`)
    for (let directory = directoryOf(path); directory !== ''; directory = directoryOf(directory)) {
      const stat = lstatSync(join(this.#root, directory), { throwIfNoEntry: false })
      if (stat?.isDirectory() === false) throw new FileChanged(`${directory} is no folder`)
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

// The parts of the name of a replaced file: its expected hash, an id, and the name that it had.
const hashLength = 64
const idLength = 36
