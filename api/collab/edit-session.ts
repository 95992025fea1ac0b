import type { Flush } from '../../shared/body/live/live-document.ts'

/**
 * Decides which bodies of a document the history keeps as versions while people edit it. The body before the first
 * change is kept. A body is kept after each `intervalMs` milliseconds of editing, and when the last editor leaves.
 */
export class EditSession {
  readonly #intervalMs: number
  /** When the newest version was kept, in milliseconds of `performance.now()`; null before the first change. */
  #keptAt: number | null = null
  /** Whether the body has changed since a version was kept. */
  #hasChanged = false

  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs
  }

  /** Whether a version is still to be kept when the last editor leaves. */
  get isOpen(): boolean {
    return this.#hasChanged
  }

  /** What the next flush has to keep. `isLast`: the last editor has left, so no flush is expected to follow. */
  next({ isLast }: { isLast: boolean }): Flush['version'] {
    if (this.#keptAt === null) return 'before'
    return isLast || performance.now() - this.#keptAt >= this.#intervalMs ? 'after' : 'none'
  }

  /** Notes a flush that has stored text and has kept `version`. */
  flushed({ version, changed }: { version: Flush['version']; changed: boolean }): void {
    const keptAfter = version === 'after'
    if (keptAfter || (changed && this.#keptAt === null)) this.#keptAt = performance.now()
    this.#hasChanged = !keptAfter && (changed || this.#hasChanged)
  }
}
