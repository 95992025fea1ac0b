import { type FSWatcher, statSync, watch } from 'node:fs'
import { basename, join } from 'node:path'

// How often files are looked at whose folder cannot be watched. Milliseconds.
const pollMs = 2000

/**
 * Watches the files of folders. Each folder is watched by itself. Many programs replace a file to save it, and a
 * recursive watch of Node loses sight of such a file. chokidar 5.0.0 loses a folder that is replaced by another of its
 * name, as `git checkout` does: of eight files written there, it noticed one.
 */
export class WatchedFolders {
  readonly #root: string
  readonly #ring: () => void
  readonly #watchers = new Map<string, { watcher: FSWatcher; inode: number }>()
  readonly #unwatched = new Set<string>()
  #timer: NodeJS.Timeout | undefined

  /** `ring` is called when a file may have changed. */
  constructor(root: string, ring: () => void) {
    this.#root = root
    this.#ring = ring
  }

  /**
   * Watches exactly these folders. Rings if there is a new folder, or another one in its place, since it may have
   * changed before it was watched. A folder that cannot be watched rings once, and is looked at from time to time.
   */
  follow(directories: Iterable<string>): void {
    const wanted = new Set(['', ...directories])
    for (const [directory, { inode }] of this.#watchers) {
      if (!wanted.has(directory) || this.#inodeOf(directory) !== inode) this.#forget(directory)
    }
    for (const directory of this.#unwatched) if (!wanted.has(directory)) this.#unwatched.delete(directory)
    const added = [...wanted].filter((directory) => !this.#watchers.has(directory) && !this.#unwatched.has(directory))
    for (const directory of added) this.#add(directory)
    if (added.length > 0) this.#ring()
  }

  /** Ends watching. */
  close(): void {
    for (const directory of this.#watchers.keys()) this.#forget(directory)
    clearInterval(this.#timer)
  }

  #add(directory: string): void {
    const path = join(this.#root, directory)
    try {
      const inode = this.#inodeOf(directory)
      const watcher = watch(path, (type, name) => {
        // The folder itself was moved or deleted. What has its name now has to be watched anew.
        if (type === 'rename' && name === basename(path)) this.#forget(directory)
        // The state of the sync and other hidden files change all the time.
        if (!name?.startsWith('.')) this.#ring()
      })
      watcher.on('error', () => {
        this.#forget(directory)
        this.#poll(directory)
      })
      this.#watchers.set(directory, { watcher, inode })
      this.#unwatched.delete(directory)
    } catch {
      this.#poll(directory)
    }
  }

  #forget(directory: string): void {
    this.#watchers.get(directory)?.watcher.close()
    this.#watchers.delete(directory)
  }

  // NaN, which equals nothing, if the folder is gone.
  #inodeOf(directory: string): number {
    return statSync(join(this.#root, directory), { throwIfNoEntry: false })?.ino ?? Number.NaN
  }

  // A file system may not tell of changes, and a system may watch only so many folders.
  #poll(directory: string): void {
    this.#unwatched.add(directory)
    this.#timer ??= setInterval(() => {
      for (const unwatched of this.#unwatched) this.#add(unwatched)
      this.#ring()
    }, pollMs)
  }
}
