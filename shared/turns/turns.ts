import { Refusal } from '../errors/errors.ts'
import { type Capacity, FairQueue, type Requester } from './fair-queue.ts'
import { tooManyParallel } from './parallel-calls.ts'
import { currentCall } from './requester.ts'

/** The bounds of the queue, and the longest time that the work of a request waits for its turn, in milliseconds. */
type Limits = Capacity & { patienceMs: number }

/**
 * Bounds the heavy work that runs at a time in this process, in an order that is fair to workspaces and their users
 * (api/guide/limits.md#turns). A request that finds the queue full, or waits for too long, is refused: with 429
 * `rate_limited` if its user has other work in the queue, otherwise with 503 `service_unavailable`. Work outside a
 * request, such as a job, waits as long as necessary.
 */
export class Turns {
  readonly #limits: Limits
  readonly #queue: FairQueue<Piece>

  constructor(limits: Limits) {
    this.#limits = limits
    this.#queue = new FairQueue(limits)
  }

  /** The numbers of pieces of work that run and that wait. */
  get state(): { running: number; waiting: number } {
    return { running: this.#queue.running, waiting: this.#queue.length }
  }

  /**
   * Waits for a turn of the current requester and then runs `work`. When the client no longer waits for the answer, the
   * work leaves the queue and the promise rejects with the reason of the client's signal.
   */
  async run<T>(work: () => Promise<T>): Promise<T> {
    const { requester, signal } = currentCall()
    signal?.throwIfAborted()
    await this.#wait(requester, signal)
    try {
      return await work()
    } finally {
      this.#queue.end(requester)
      this.#startNext()
    }
  }

  #wait(requester: Requester, signal: AbortSignal | null): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const leave = (reason: () => unknown) => {
      if (this.#queue.remove(piece)) piece.refuse(reason())
    }
    const onAbort = () => leave(() => signal?.reason)
    const isRequest = signal !== null
    const timer = isRequest ? setTimeout(() => leave(() => this.#busy(requester)), this.#limits.patienceMs) : undefined
    const settle = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
    }
    const piece: Piece = {
      requester,
      start() {
        settle()
        resolve()
      },
      refuse(reason) {
        settle()
        reject(reason)
      },
    }
    signal?.addEventListener('abort', onAbort)
    const refused = this.#queue.add(requester, piece, { unbounded: !isRequest })
    refused?.refuse(this.#busy(refused.requester))
    this.#startNext()
    return promise
  }

  #busy(requester: Requester): Refusal {
    if (this.#queue.workOf(requester) > 0) return tooManyParallel()
    return new Refusal('service_unavailable', { headers: { 'Retry-After': '30' }, cause: 'no turn was free' })
  }

  #startNext(): void {
    for (let next = this.#queue.take(); next !== null; next = this.#queue.take()) next.item.start()
  }
}

/**
 * A piece of work in the queue: `start` is called when its turn comes, `refuse` when it leaves the queue without a
 * turn.
 */
type Piece = { requester: Requester; start: () => void; refuse: (reason: unknown) => void }
