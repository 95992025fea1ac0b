import { Refusal } from '../shared/errors.ts'

type Waiting = { user: string; start: () => void }

/**
 * Lets only so many long answers run at a time in this process, and fewer of one user, so that nobody can keep the
 * others out. Whoever comes too many waits for a while, then is asked to come back: 503 `service_unavailable`.
 */
export class Turns {
  readonly #limits: { atOnce: number; ofOneUser: number; patienceMs: number }
  readonly #running = new Map<string, number>()
  #waiting: Waiting[] = []

  constructor(limits: { atOnce: number; ofOneUser: number; patienceMs: number }) {
    this.#limits = limits
  }

  /** Waits for a turn and runs `work` in it. */
  async run<T>(user: string, work: () => Promise<T>): Promise<T> {
    if (!this.#isFree(user)) await this.#wait(user)
    else this.#count(user, 1)
    try {
      return await work()
    } finally {
      this.#count(user, -1)
      this.#startNext()
    }
  }

  #isFree(user: string): boolean {
    const running = [...this.#running.values()].reduce((sum, count) => sum + count, 0)
    return running < this.#limits.atOnce && (this.#running.get(user) ?? 0) < this.#limits.ofOneUser
  }

  // A turn is counted by whoever gives it, so that nobody else can take it before its owner goes on.
  #count(user: string, change: 1 | -1): void {
    const count = (this.#running.get(user) ?? 0) + change
    if (count === 0) this.#running.delete(user)
    else this.#running.set(user, count)
  }

  #wait(user: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting = this.#waiting.filter((other) => other !== waiting)
        reject(new Refusal('service_unavailable', { headers: { 'Retry-After': '30' }, cause: 'no turn was free' }))
      }, this.#limits.patienceMs)
      const waiting: Waiting = {
        user,
        start: () => {
          clearTimeout(timer)
          this.#count(user, 1)
          resolve()
        },
      }
      this.#waiting.push(waiting)
    })
  }

  #startNext(): void {
    const next = this.#waiting.find(({ user }) => this.#isFree(user))
    if (next === undefined) return
    this.#waiting = this.#waiting.filter((other) => other !== next)
    next.start()
  }
}
