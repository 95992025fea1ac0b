import * as Y from 'yjs'
import type { Slices } from '../../computations/slices.ts'
import { type BodyChange, changeLines } from '../change.ts'
import { type ComparedText, type LineWindow, type Splice, VersionedLines } from '../versioned-lines.ts'
import { bodyFragment } from './encoding.ts'
import { followLines } from './follow-lines.ts'
import { HeldIds } from './held-ids.ts'
import { KnownElements } from './known-elements.ts'
import type { Repair } from './repair-nodes.ts'
import { type Reading, readRuns, writeRepairs } from './settle.ts'
import { followingDoc, watchKeptBack } from './state.ts'

/**
 * A result of `settle`. `change` has what a commit needs to know about the change of the body, null when the body is as
 * before. `windows` are the stretches in which the bodies differ. `updates` are the Yjs updates that the repairs made,
 * in order.
 */
export type Settled = {
  change: BodyChange | null
  windows: readonly LineWindow[]
  repairs: Repair[]
  updates: Uint8Array[]
}

/**
 * A Y document together with the stored lines of the body that it follows. Between two calls of `settle` it knows which
 * top-level elements have changed. So the cost of every call follows from what has changed, and not from the length of
 * the document.
 *
 * Calls that may take long return `Slices`: `atOnce` runs them at once, `inSlices` with turns of the event loop. The
 * caller makes one call after the other. When a call fails, or what it returned is not stored, the caller throws the
 * object away and opens another.
 */
export class FollowingBody {
  readonly doc: Y.Doc
  readonly #lines: VersionedLines
  readonly #known: KnownElements
  /** The ids that blocks had after the last `settle`. */
  #held: HeldIds

  private constructor(doc: Y.Doc, lines: VersionedLines, known: KnownElements) {
    this.doc = doc
    this.#lines = lines
    this.#known = known
    this.#held = new HeldIds(doc)
  }

  /**
   * Opens a Y document from updates, one slice each (`cutUpdates` makes short ones), with the stored lines of the body
   * that it follows. The content of elements is not read. An element counts as read when it has the place, the id and
   * the type of a line.
   */
  static *open({ updates, lines }: { updates: Iterable<Uint8Array>; lines: readonly string[] }): Slices<FollowingBody> {
    const doc = followingDoc()
    for (const update of updates) {
      Y.applyUpdate(doc, update)
      yield
    }
    const known = yield* KnownElements.trusting(bodyFragment(doc), lines)
    return new FollowingBody(doc, yield* VersionedLines.of(lines), known)
  }

  /** The lines of the followed body. A change makes a new array and leaves this array as it is. */
  get lines(): readonly string[] {
    return this.#lines.lines
  }

  /** The version of the followed body. */
  get version(): string {
    return this.#lines.version
  }

  /** The number of bytes of the stored text. */
  get bytes(): number {
    return this.#lines.bytes
  }

  /** The stored text of the followed body. */
  get text(): string {
    return this.#lines.text
  }

  /** The bytes that the windows of a settled change have put in the place of others. */
  splicesOf(windows: readonly LineWindow[]): Splice[] {
    return this.#lines.splicesOf(windows)
  }

  /** The lines of a text that the database has compared with the stored text. */
  linesOf(text: ComparedText): string[] {
    return this.#lines.linesOf(text)
  }

  /** Takes an update of others: rows of the log, or typed text. False when the update brings nothing new. */
  apply(update: Uint8Array): boolean {
    let isNew = false
    const notice = (transaction: Y.Transaction) => {
      isNew ||= transaction.deleteSet.clients.size > 0 || hasNewStructs(transaction)
    }
    const keepsMore = watchKeptBack(this.doc)
    this.doc.on('afterTransaction', notice)
    try {
      Y.applyUpdate(this.doc, update)
    } finally {
      this.doc.off('afterTransaction', notice)
    }
    return isNew || keepsMore()
  }

  /**
   * Brings the Y document from the followed body to another body, which it follows from then on. Text that was applied
   * and not settled yet stays. Of several blocks with one id, the block that would keep it at `settle` is changed. The
   * result is that of `followInto` with both bodies. Returns the Yjs updates in order: one for a change of up to about
   * 250 blocks, more for a larger change.
   */
  *follow(lines: readonly string[]): Slices<Uint8Array[]> {
    const fragment = bodyFragment(this.doc)
    const updates: Uint8Array[] = []
    const following = { from: this.lines, to: lines, known: this.#known, held: this.#held }
    const windows = yield* collecting(this.doc, updates, followLines(fragment, following))
    yield* this.#lines.replace(windows)
    yield* this.#known.replace(windows, this.lines, [])
    return updates
  }

  /**
   * Reads what has changed, repairs it, and makes the result the followed body. The body is that of `readDocument`,
   * `repairDocument` with the seed, and `normaliseDocument`. Blocks that had their ids after the last call keep them. A
   * body with too many nodes is not refused.
   */
  *settle(seed: string): Slices<Settled> {
    const before = this.lines
    const fragment = bodyFragment(this.doc)
    const updates: Uint8Array[] = []
    const settling = { known: this.#known, lines: before, held: this.#held, seed }
    const readings = yield* collecting(this.doc, updates, readRuns(fragment, settling))
    const { runs, repairs, children } = readings
    const windows = windowsOf(runs, before)
    const changed = windows.flatMap(trimmed)
    const change = yield* changeLines(this.#lines, changed)
    yield* this.#known.replace(
      windows,
      this.lines,
      runs.map((run) => elementsOf(run, children)),
    )
    if (runs.some(({ isRepaired }) => isRepaired)) {
      yield* collecting(this.doc, updates, writeRepairs(fragment, readings))
      yield* this.#known.noteWritten()
    }
    this.#held = new HeldIds(this.doc)
    return { change, windows: changed, repairs, updates }
  }

  /** Forgets what is known of the elements, so that the next `settle` reads all of them. */
  distrust(): void {
    for (const position of this.lines.keys()) this.#known.forget(position)
  }
}

function hasNewStructs({ beforeState, afterState }: Y.Transaction): boolean {
  for (const [client, clock] of afterState) if (beforeState.get(client) !== clock) return true
  return false
}

function* collecting<T>(doc: Y.Doc, updates: Uint8Array[], slices: Slices<T>): Slices<T> {
  const collect = (update: Uint8Array) => updates.push(update)
  doc.on('update', collect)
  try {
    return yield* slices
  } finally {
    doc.off('update', collect)
  }
}

function windowsOf(runs: readonly Reading[], lines: readonly string[]): LineWindow[] {
  let shift = 0
  return runs.map(({ start, end, lines: added }) => {
    const window = { from: start, removed: lines.slice(start, end), to: start + shift, added }
    shift += added.length - (end - start)
    return window
  })
}

/** A window without equal lines at its ends; nothing when all lines are equal. */
function trimmed({ from, removed, to, added }: LineWindow): LineWindow[] {
  const shorter = Math.min(removed.length, added.length)
  let start = 0
  while (start < shorter && removed[start] === added[start]) start += 1
  let end = 0
  while (end < shorter - start && removed.at(-1 - end) === added.at(-1 - end)) end += 1
  if (start + end === Math.max(removed.length, added.length)) return []
  return [
    {
      from: from + start,
      removed: removed.slice(start, removed.length - end),
      to: to + start,
      added: added.slice(start, added.length - end),
    },
  ]
}

/** The elements that hold the lines of a run. After a repair they are not known, because the repair changes them. */
function elementsOf({ isRepaired, positions, lines }: Reading, children: readonly unknown[]): (Y.XmlElement | null)[] {
  if (isRepaired) return lines.map(() => null)
  return positions.map((position) => children[position ?? -1] as Y.XmlElement)
}
