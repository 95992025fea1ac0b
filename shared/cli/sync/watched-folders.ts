import { type FSWatcher, watch } from 'node:fs'
import { join } from 'node:path'

// How often files are looked at whose folder cannot be watched. Milliseconds.
const pollMs = 2000

/**
 * Watches the files of folders. Each folder is watched by itself: a recursive watch of Node loses sight of a file that
 * was replaced by another file, which is how many programs save.
 */
export class WatchedFolders {
  readonly #root: string
  readonly #ring: () => void
  readonly #watchers = new Map<string, FSWatcher>()
  #timer: NodeJS.Timeout | undefined

  /** `ring` is called when a file may have changed. */
  constructor(root: string, ring: () => void) {
    this.#root = root
    this.#ring = ring
  }

  /** Watches exactly these folders. Rings if there is a new folder, since it may have changed before it was watched. */
  follow(directories: Iterable<string>): void {
    const wanted = new Set(['', ...directories])
    for (const [directory, watcher] of this.#watchers) {
      if (wanted.has(directory)) continue
      watcher.close()
      this.#watchers.delete(directory)
    }
    const added = [...wanted].filter((directory) => !this.#watchers.has(directory))
    for (const directory of added) this.#add(directory)
    if (added.length > 0) this.#ring()
  }

  /** Ends watching. */
  close(): void {
    for (const watcher of this.#watchers.values()) watcher.close()
    this.#watchers.clear()
    clearInterval(this.#timer)
  }

  #add(directory: string): void {
    try {
      const watcher = watch(join(this.#root, directory), (_, name) => {
        // The state of the sync and other hidden files change all the time.
        if (!name?.startsWith('.')) this.#ring()
      })
      watcher.on('error', () => {
        watcher.close()
        this.#watchers.delete(directory)
        this.#poll()
      })
      this.#watchers.set(directory, watcher)
    } catch {
      this.#poll()
    }
  }

  // A file system may not tell of changes, and a system may watch only so many folders.
  #poll(): void {
    this.#timer ??= setInterval(this.#ring, pollMs)
  }
}
