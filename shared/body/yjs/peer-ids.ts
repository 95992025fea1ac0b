import { type IdRange, IdSet } from './id-ranges.ts'

/**
 * The Yjs ids that came from editors of other processes which hold the document. The ids of a process that has left are
 * nobody's, until the process joins again.
 */
export class PeerIds {
  readonly #processes = new Map<string, IdSet>()
  readonly #gone = new Set<string>()
  /** The ids of all processes that are there. */
  #present = new IdSet()

  /** Notes that an editor of a process has made ids. */
  add(process: string, range: IdRange): void {
    const known = this.#processes.get(process)
    if (known === undefined) this.#processes.set(process, setOf([range]))
    else known.add(range)
    if (!this.#gone.has(process)) this.#present.add(range)
  }

  /** Notes that a process has closed the document or is gone. */
  left(process: string): void {
    if (this.#gone.has(process)) return
    this.#gone.add(process)
    const present = [...this.#processes].filter(([name]) => !this.#gone.has(name))
    this.#present = setOf(present.flatMap(([, ids]) => [...ids]))
  }

  /** Notes that a process holds the document. */
  joined(process: string): void {
    if (!this.#gone.delete(process)) return
    for (const range of this.#processes.get(process) ?? []) this.#present.add(range)
  }

  /** The processes that are there and have made ids. */
  get present(): string[] {
    return [...this.#processes.keys()].filter((process) => !this.#gone.has(process))
  }

  /** Splits a range into the ids of one process and all others, in ascending order. */
  partsOf(process: string, range: IdRange): (IdRange & { isIn: boolean })[] {
    return (this.#processes.get(process) ?? new IdSet()).parts(range)
  }

  /** Splits a range into the ids of processes that are there and all others, in ascending order. */
  parts(range: IdRange): (IdRange & { isIn: boolean })[] {
    return this.#present.parts(range)
  }
}

function setOf(ranges: readonly IdRange[]): IdSet {
  const set = new IdSet()
  for (const range of ranges) set.add(range)
  return set
}
