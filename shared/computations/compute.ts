import { availableParallelism } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { timeLimits } from '../database/time-limits.ts'
import { Refusal } from '../errors/errors.ts'
import { currentCall } from '../turns/requester.ts'
import { Turns } from '../turns/turns.ts'
import { type Computation, ComputationLimitError, limited } from './computation.ts'
import type { ThreadAnswer, ThreadTask } from './thread-main.ts'

// The number of threads: one for each processor, and at least two. A single user never has all threads.
const atOnce = Math.max(2, availableParallelism())

const turns = new Turns({
  atOnce,
  ofOneUser: atOnce - 1,
  waiting: 256,
  waitingOfOneUser: 32,
  patienceMs: 60_000,
})

const idle: Thread[] = []
const ends = { done: 0, failed: 0, over_limit: 0 }

const memoryLimits = { maxOldGenerationSizeMb: 512, stackSizeMb: 4 }
// A thread within one long call of the JavaScript runtime does not report its processor time. Such a thread is ended
// when `unanswered` times its limit has passed on the clock.
const unanswered = 4

/** A function that computes the output of an input. */
export type Compute = <Input, Output>(computation: Computation<Input, Output>, input: Input) => Promise<Output>

/**
 * Computes without blocking the event loop. A large input waits for a turn of the current requester and then runs in a
 * thread. A thread that exceeds the limit of the computation or of the current call is ended. Rejects with the error of
 * the function, and with ComputationLimitError for too much time or memory. Rejects with 503 `service_unavailable` when
 * too many computations wait already.
 */
export async function compute<Input, Output>(computation: Computation<Input, Output>, input: Input): Promise<Output> {
  if (computation.isSmall(input)) return computation.run(input)
  const declared = limited(computation, currentCall().mostMs)
  return turns.run(() => computeInThread(declared, input))
}

/**
 * Runs a transaction within one turn of the current requester. The transaction computes large inputs in a thread
 * without waiting for another turn, because the transaction may hold locks by then. Such a computation may take half of
 * the time for which PostgreSQL lets a transaction pause. Rejects with 503 `service_unavailable` when a computation
 * takes longer, and when no turn is free.
 */
export function withinTurn<T>(transaction: (computeNow: Compute) => Promise<T>): Promise<T> {
  return turns.run(() => transaction(computeUnderLocks))
}

const underLocksMs = timeLimits.work.pause / 2

async function computeUnderLocks<Input, Output>(
  computation: Computation<Input, Output>,
  input: Input,
): Promise<Output> {
  const declared = limited(computation, currentCall().mostMs)
  try {
    return await computeInThread(limited(declared, underLocksMs), input)
  } catch (error) {
    const isOwnLimit = declared.cpuMs(input) <= underLocksMs
    if (isOwnLimit || !(error instanceof ComputationLimitError) || error.limit === 'memory') throw error
    throw new Refusal('service_unavailable', { headers: { 'Retry-After': '30' }, cause: 'locks were held too long' })
  }
}

/**
 * The load of the threads of this process: the computations that run and wait, and the number of computations in
 * threads by outcome.
 */
export function computationLoad(): { running: number; waiting: number; ends: Readonly<typeof ends> } {
  return { ...turns.state, ends: { ...ends } }
}

async function computeInThread<Input, Output>(computation: Computation<Input, Output>, input: Input): Promise<Output> {
  const thread = idleThread() ?? new Thread()
  try {
    const output = await thread.run(computation, input)
    ends.done += 1
    return output
  } catch (error) {
    ends[endOf(error)] += 1
    throw error
  } finally {
    if (thread.isUsable) idle.push(thread)
  }
}

// A thread may have ended while it was idle, so such threads are passed over.
function idleThread(): Thread | undefined {
  for (let thread = idle.pop(); thread !== undefined; thread = idle.pop()) if (thread.isUsable) return thread
  return undefined
}

// A refusal is a regular answer, so its computation counts as done.
function endOf(error: unknown): keyof typeof ends {
  if (error instanceof Refusal) return 'done'
  return error instanceof ComputationLimitError ? 'over_limit' : 'failed'
}

/**
 * A thread that runs one computation at a time. A computation over its limit ends the thread, and `isUsable` is false
 * from then on. A thread keeps the process alive only while it computes.
 */
class Thread {
  readonly #worker = new Worker(new URL('./thread-main.ts', import.meta.url), { resourceLimits: memoryLimits })
  #onAnswer: (answer: ThreadAnswer) => void = () => {}
  #onEnd: (error: Error) => void = () => {}
  isUsable = true

  constructor() {
    this.#worker.unref()
    this.#worker.on('message', (answer: ThreadAnswer) => this.#onAnswer(answer))
    this.#worker.on('error', (error) => this.#ended(error as Error))
    this.#worker.on('exit', () => this.#ended(new Error('the thread has ended')))
  }

  /**
   * Runs a computation. Rejects with the error of its function, and with ComputationLimitError for too much time or
   * memory.
   */
  async run<Input, Output>(computation: Computation<Input, Output>, input: Input): Promise<Output> {
    const { module, name } = computation
    const limitMs = computation.cpuMs(input)
    const over = new AbortController()
    const { promise, resolve, reject } = Promise.withResolvers<ThreadAnswer>()
    this.#onEnd = reject
    this.#onAnswer = (answer) => {
      // The time for loading the module does not count against the input.
      if ('loaded' in answer) void this.#endLate(limitMs, over.signal)
      else resolve(answer)
    }
    this.#worker.ref()
    try {
      this.#worker.postMessage({ module, name, input, limitMs } satisfies ThreadTask)
      return outputOf(await promise) as Output
    } finally {
      over.abort()
      this.#worker.unref()
    }
  }

  #ended(error: Error): void {
    this.isUsable = false
    this.#onEnd(isOutOfMemory(error) ? new ComputationLimitError('memory') : error)
  }

  // Ends a computation over its limit of processor time. The clock does not count, because a busy machine must not
  // refuse what it would compute when idle.
  async #endLate(limitMs: number, over: AbortSignal): Promise<void> {
    const latest = performance.now() + unanswered * limitMs
    try {
      const before = await this.#worker.cpuUsage()
      for (let left = limitMs; left > 0; ) {
        await sleep(Math.max(left, 20), undefined, { signal: over, ref: false })
        const silent = sleep(Math.max(latest - performance.now(), 100), null, { signal: over, ref: false })
        const used = await Promise.race([this.#worker.cpuUsage(before), silent])
        if (used === null) break
        left = limitMs - (used.user + used.system) / 1000
      }
    } catch {
      // The signal `over` says that the computation has ended in time. Or the thread has ended, and `#onEnd` has
      // rejected the call of `run`. In both cases nothing is left to watch.
      return
    }
    this.#ended(new ComputationLimitError('time'))
    // A single call of the runtime cannot be interrupted, so nobody waits for the thread to end.
    void this.#worker.terminate()
  }
}

function outputOf(answer: ThreadAnswer): unknown {
  if ('output' in answer) return answer.output
  if ('overLimit' in answer) throw new ComputationLimitError('time')
  if (!('refused' in answer)) throw 'error' in answer ? answer.error : new Error('no answer')
  const { code, message, status, details, headers } = answer.refused
  throw new Refusal(code, { message, status, headers, ...(details !== undefined && { details }) })
}

function isOutOfMemory(error: Error): boolean {
  return (error as { code?: string }).code === 'ERR_WORKER_OUT_OF_MEMORY'
}
