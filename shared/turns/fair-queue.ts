/** On whose behalf something is done: a user of a workspace, or whatever else stands for these. */
export type Requester = { workspaceId: string; userId: string }

/** How much may run at a time, and how much may wait. */
export type Capacity = {
  atOnce: number
  /** How much of one workspace, and of one of its users, may run at a time; as much as of all when absent. */
  ofOneWorkspace?: number
  ofOneUser?: number
  /** How many pieces may wait in all, and how many of one user. */
  waiting: number
  waitingOfOneUser: number
}

/** A piece of work that waits, with its place in the order of arrival. */
type Waiting<Item> = { requester: Requester; item: Item }

/** Of a workspace or a user: how much runs and waits, and since when: its last turn, the end of one, or its coming. */
type Account = { running: number; since: number; waiting: number }

/**
 * Decides who is next when work is asked for by many: the workspace of which the least runs, among equals the one that
 * has waited the longest since its last turn; within it the user by the same rule; of a user what came first. So a
 * requester with a thousand pieces keeps another waiting for no more than the piece that runs. Pure: it holds no timers.
 */
export class FairQueue<Item> {
  readonly #capacity: Capacity
  readonly #accounts = new Map<string, Account>()
  #waiting: Waiting<Item>[] = []
  #running = 0
  #clock = 0

  constructor(capacity: Capacity) {
    this.#capacity = capacity
  }

  /** How many pieces wait. */
  get length(): number {
    return this.#waiting.length
  }

  /** How many pieces run: those that were taken and have not ended. */
  get running(): number {
    return this.#running
  }

  /**
   * Adds a piece to those that wait and returns the piece that has to leave for it, if any. That is the new piece itself
   * when its user has too many already; in a full queue it is the latest of the workspace that has the most. Where the
   * caller bounds the number by itself, `unbounded`, none has to leave.
   */
  add(requester: Requester, item: Item, { unbounded = false } = {}): Item | null {
    const { waiting, waitingOfOneUser } = unbounded ? boundless : this.#capacity
    if (this.#account(userKey(requester)).waiting >= waitingOfOneUser) {
      this.#forgetIdle(requester)
      return item
    }
    this.#waiting.push({ requester, item })
    this.#change(requester, { waiting: 1 })
    return this.#waiting.length > waiting ? this.#dropFromLargest() : null
  }

  /** Takes the next piece that may run now, which counts as running until `end`; null when there is none. */
  take(): { requester: Requester; item: Item } | null {
    if (this.#running >= this.#capacity.atOnce) return null
    const next = this.#next()
    if (next === null) return null
    this.#remove(next)
    this.#running += 1
    this.#change(next.requester, { running: 1, turn: true })
    return next
  }

  /** Says that a piece of this requester has ended. */
  end(requester: Requester): void {
    this.#running -= 1
    this.#change(requester, { running: -1, turn: true })
  }

  /** Removes a piece that waits; false when it does not wait any more. */
  remove(item: Item): boolean {
    const found = this.#waiting.find((waiting) => waiting.item === item)
    if (found !== undefined) this.#remove(found)
    return found !== undefined
  }

  #next(): Waiting<Item> | null {
    const { ofOneWorkspace = Infinity, ofOneUser = Infinity } = this.#capacity
    let best: Waiting<Item> | null = null
    for (const candidate of this.#waiting) {
      const { requester } = candidate
      if (this.#account(workspaceKey(requester)).running >= ofOneWorkspace) continue
      if (this.#account(userKey(requester)).running >= ofOneUser) continue
      if (best === null || this.#comesBefore(requester, best.requester)) best = candidate
    }
    return best
  }

  #comesBefore(a: Requester, b: Requester): boolean {
    const [keyA, keyB] = a.workspaceId === b.workspaceId ? [userKey(a), userKey(b)] : [workspaceKey(a), workspaceKey(b)]
    const [accountA, accountB] = [this.#account(keyA), this.#account(keyB)]
    if (accountA.running !== accountB.running) return accountA.running < accountB.running
    return accountA.since < accountB.since
  }

  #dropFromLargest(): Item | null {
    const most = (keyOf: (requester: Requester) => string, among: readonly Waiting<Item>[]) => {
      const counts = among.map(({ requester }) => this.#account(keyOf(requester)).waiting)
      const largest = Math.max(...counts)
      return among.filter((_, index) => counts[index] === largest)
    }
    const dropped = most(userKey, most(workspaceKey, this.#waiting)).at(-1)
    if (dropped === undefined) return null
    this.#remove(dropped)
    return dropped.item
  }

  #remove(waiting: Waiting<Item>): void {
    this.#waiting = this.#waiting.filter((other) => other !== waiting)
    this.#change(waiting.requester, { waiting: -1 })
  }

  #change(requester: Requester, by: { waiting?: number; running?: number; turn?: boolean }): void {
    for (const key of [workspaceKey(requester), userKey(requester)]) {
      const account = this.#account(key)
      account.waiting += by.waiting ?? 0
      account.running += by.running ?? 0
      if (by.turn) account.since = ++this.#clock
    }
    this.#forgetIdle(requester)
  }

  // Whoever comes to the queue stands behind those that are in it already.
  #account(key: string): Account {
    const account = this.#accounts.get(key) ?? { running: 0, since: ++this.#clock, waiting: 0 }
    this.#accounts.set(key, account)
    return account
  }

  #forgetIdle(requester: Requester): void {
    for (const key of [workspaceKey(requester), userKey(requester)]) {
      const account = this.#accounts.get(key)
      if (account?.running === 0 && account.waiting === 0) this.#accounts.delete(key)
    }
  }
}

const boundless = { waiting: Infinity, waitingOfOneUser: Infinity }

function workspaceKey({ workspaceId }: Requester): string {
  return JSON.stringify([workspaceId])
}

function userKey({ workspaceId, userId }: Requester): string {
  return JSON.stringify([workspaceId, userId])
}
