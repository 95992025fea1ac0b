/** The party on whose behalf work is done: a user in a workspace. Visitors and jobs have stand-ins for the two ids. */
export type Requester = { workspaceId: string; userId: string }

/** The numbers of pieces of work that may run at a time and that may wait. A piece of work is what runs in one turn. */
export type Capacity = {
  atOnce: number
  /**
   * The most pieces of work of one workspace, and of one user in it, that run at a time. Absent where only `atOnce`
   * limits the pieces of work.
   */
  ofOneWorkspace?: number
  ofOneUser?: number
  /** The most pieces of work that wait in all, and of one user. */
  waiting: number
  waitingOfOneUser: number
}

/** A piece of work that waits. The array of waiting pieces is in the order of arrival. */
type Waiting<Item> = { requester: Requester; item: Item }

/**
 * The pieces of work of a workspace or a user that run and that wait. `since` is a time on the queue's own clock: when
 * the account was made, or when its last turn began or ended.
 */
type Account = { running: number; since: number; waiting: number }

const boundless = { waiting: Infinity, waitingOfOneUser: Infinity }

/**
 * A queue that decides whose work is next when many requesters ask for work. The next workspace is the workspace with
 * the fewest running pieces of work; among equals the workspace whose last turn is the longest ago. Within the
 * workspace the next user is found by the same rule. The pieces of work of a user come in the order of arrival. So a
 * requester with a thousand pieces of work delays another requester only by the piece that runs. The queue has no
 * timers and starts nothing by itself.
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

  /** The number of pieces of work that wait. */
  get length(): number {
    return this.#waiting.length
  }

  /** The number of pieces of work that run: they were taken and have not ended. */
  get running(): number {
    return this.#running
  }

  /**
   * Adds a piece of work to the waiting pieces and returns the piece that has to leave the queue for it, or null. The
   * new piece itself has to leave when its user has too many waiting pieces. In a full queue the latest piece of the
   * workspace with the most waiting pieces has to leave. With `unbounded` nothing leaves, because the caller itself
   * bounds the number of its waiting pieces.
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

  /**
   * Takes the next piece of work that may run now; null when there is none. The piece counts as running until `end`.
   */
  take(): { requester: Requester; item: Item } | null {
    if (this.#running >= this.#capacity.atOnce) return null
    const next = this.#next()
    if (next === null) return null
    this.#remove(next)
    this.#running += 1
    this.#change(next.requester, { running: 1, turn: true })
    return next
  }

  /** Records that a piece of work of this requester has ended. */
  end(requester: Requester): void {
    this.#running -= 1
    this.#change(requester, { running: -1, turn: true })
  }

  /** The number of pieces of work of a user that run or wait. */
  workOf(requester: Requester): number {
    const account = this.#accounts.get(userKey(requester))
    return account === undefined ? 0 : account.running + account.waiting
  }

  /** Removes a waiting piece of work; false when the piece no longer waits. */
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

  // A new account gets the latest time of the queue's clock, so the account comes after all accounts that are in the
  // queue already.
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

function workspaceKey({ workspaceId }: Requester): string {
  return JSON.stringify([workspaceId])
}

function userKey({ workspaceId, userId }: Requester): string {
  return JSON.stringify([workspaceId, userId])
}
