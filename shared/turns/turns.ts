import pLimit, { type LimitFunction } from 'p-limit'
import { Refusal } from '../errors/errors.ts'
import { currentCall } from './requester.ts'

/**
 * The most pieces of work that run at a time, and that wait when a request comes. `patienceMs` is the longest time that
 * the work of a request waits, in milliseconds. What is absent has no limit.
 */
type Limits = {
  atOnce?: number
  ofOneUser: number
  waiting?: number
  waitingOfOneUser?: number
  patienceMs?: number
}

/** The turns of a user. `gone` counts the pieces in the queue for which nobody waits any more. */
type User = { limit: LimitFunction; gone: number }

const unlimited = { atOnce: Infinity, waiting: Infinity, waitingOfOneUser: Infinity, patienceMs: 2 ** 31 - 1 }

/**
 * Bounds the work that runs at a time in this process, and that of each user (api/guide/limits.md#turns). So a user
 * with a thousand pieces of work delays another user only by the few that run. A request that finds too much waiting,
 * or waits for too long, is refused: with 429 `rate_limited` if its user has other work here, otherwise with 503
 * `service_unavailable`. Work outside a request, such as a job, waits as long as necessary.
 */
export class Turns {
  readonly #limits: Required<Limits>
  readonly #all: LimitFunction
  readonly #users = new Map<string, User>()

  constructor(limits: Limits) {
    this.#limits = { ...unlimited, ...limits }
    this.#all = pLimit(this.#limits.atOnce)
  }

  /** The numbers of pieces of work that run and that wait. */
  get state(): { running: number; waiting: number } {
    const users = [...this.#users.values()]
    const waiting = users.reduce((sum, { limit, gone }) => sum + limit.pendingCount - gone, this.#all.pendingCount)
    return { running: this.#all.activeCount, waiting }
  }

  /**
   * Waits for a turn of the current user and then runs `work`. Rejects with the reason of the client's signal as soon
   * as the client no longer waits for the answer.
   */
  async run<T>(work: () => Promise<T>): Promise<T> {
    const { userId, signal } = currentCall()
    signal?.throwIfAborted()
    const user = this.#users.get(userId) ?? { limit: pLimit(this.#limits.ofOneUser), gone: 0 }
    const { limit } = user
    const { waiting, waitingOfOneUser, patienceMs } = this.#limits
    const isFull = limit.pendingCount - user.gone >= waitingOfOneUser || this.state.waiting >= waiting
    if (signal !== null && isFull) throw limit.activeCount > 0 ? tooManyParallel() : noTurn()
    this.#users.set(userId, user)

    const { promise: refused, reject: refuse } = Promise.withResolvers<never>()
    const wait = new AbortController()
    const onTimeout = () => wait.abort(limit.activeCount + limit.pendingCount > 1 ? tooManyParallel() : noTurn())
    const onGone = () => wait.abort(signal?.reason)
    const timer = signal === null ? undefined : setTimeout(onTimeout, patienceMs)
    let isGone = false
    wait.signal.addEventListener('abort', () => {
      // What is gone still takes memory, so that a user who always goes away has no more room than that.
      isGone = user.gone < waitingOfOneUser
      if (isGone) user.gone += 1
      refuse(wait.signal.reason)
    })
    signal?.addEventListener('abort', onGone)
    const ended = limit(() =>
      this.#all(async () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', onGone)
        if (isGone) user.gone -= 1
        return wait.signal.aborted ? refused : work()
      }),
    )
    const forget = () => {
      if (limit.activeCount + limit.pendingCount === 0) this.#users.delete(userId)
    }
    ended.then(forget, forget)
    return Promise.race([ended, refused])
  }
}

function tooManyParallel(): Refusal {
  // Different pauses, so that not all come again at once.
  const seconds = Math.random() < 0.5 ? 1 : 2
  return new Refusal('rate_limited', {
    message: 'Too many parallel requests. Send fewer at a time.',
    details: { bucket: 'concurrency', retry_after: seconds },
    headers: { 'Retry-After': String(seconds) },
  })
}

function noTurn(): Refusal {
  return new Refusal('service_unavailable', { headers: { 'Retry-After': '30' }, cause: 'no turn was free' })
}
