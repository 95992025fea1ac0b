import type { ChangedBody } from '../../shared/body/live/notifications.ts'
import type { LiveReplica } from '../../shared/body/live/replica.ts'

/** A change of a document that somebody else has stored. */
export type HeardChange = Omit<ChangedBody, 'documentId'>

/** Any change, also by a program: for a process that may have missed notifications. */
export const missedChange: HeardChange = {
  bodySeq: Number.POSITIVE_INFINITY,
  n: Number.POSITIVE_INFINITY,
  byTyping: false,
}

/** Changes that a process has heard of and not read yet. `at` is the time of the first, by `performance.now()`. */
export type Notice = HeardChange & { at: number }

/** What this process has heard of changes of one open document and has not read yet. */
export class ChangeNotices {
  readonly #replica: LiveReplica
  #notice: Notice | null = null

  constructor(replica: LiveReplica) {
    this.#replica = replica
  }

  /** When the process has heard of the first change that it has not read; null without such a change. */
  get heardAt(): number | null {
    return this.#notice?.at ?? null
  }

  /** Whether one of the changes was made by a program. */
  get isByProgram(): boolean {
    return this.#notice !== null && this.isNewByProgram(this.#notice)
  }

  /**
   * Whether a program has changed the body. Such a change may move a block, and only text that is stored before the
   * move goes along.
   */
  isNewByProgram({ byTyping, bodySeq }: HeardChange): boolean {
    return !byTyping && !this.#replica.knows({ bodySeq, n: 0 })
  }

  /**
   * Is told of a change. A change that the replica knows is forgotten: every flush notifies its own process too.
   */
  hear(change: HeardChange): void {
    if (this.#replica.knows(change)) return
    this.#add({ ...change, at: performance.now() })
  }

  /** Takes all changes, to read them. */
  take(): Notice | null {
    const notice = this.#notice
    this.#notice = null
    return notice
  }

  /** Takes back changes that could not be read. */
  giveBack(notice: Notice): void {
    this.#add(notice)
  }

  /** Forgets changes that the replica knows meanwhile. A notification often comes before the answer to a commit. */
  forgetKnown(): void {
    if (this.#notice !== null && this.#replica.knows(this.#notice)) this.#notice = null
  }

  #add(change: Notice): void {
    const known = this.#notice ?? change
    this.#notice = {
      at: Math.min(known.at, change.at),
      bodySeq: Math.max(known.bodySeq, change.bodySeq),
      n: Math.max(known.n, change.n),
      byTyping: known.byTyping && change.byTyping,
    }
  }
}
