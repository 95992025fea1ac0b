import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { Piscina } from 'piscina'
import { timeLimits } from '../database/time-limits.ts'
import { Refusal } from '../errors/errors.ts'
import { currentCall } from '../turns/requester.ts'
import { Turns } from '../turns/turns.ts'
import { type Computation, ComputationLimitError } from './computation.ts'
import type { Outcome, ThreadTask } from './thread-main.ts'

// The number of threads: one for each processor, and at least two. A single user never has all threads.
const atOnce = Math.max(2, availableParallelism())

const turns = new Turns({
  atOnce,
  ofOneUser: atOnce - 1,
  waiting: 256,
  waitingOfOneUser: 32,
  patienceMs: 60_000,
})

const pool = new Piscina<ThreadTask, Outcome>({
  filename: fileURLToPath(new URL('./thread-main.ts', import.meta.url)),
  name: 'runTask',
  minThreads: 0,
  maxThreads: atOnce,
  idleTimeout: Infinity,
  // The event loop comes first.
  niceIncrement: 5,
  resourceLimits: { maxOldGenerationSizeMb: 512, stackSizeMb: 4 },
})
// A thread that fails while it has no task is replaced when the next task comes.
pool.on('error', () => {})

const ends = { done: 0, failed: 0, over_limit: 0 }

/** A function that computes the output of an input. */
export type Compute = <Input, Output>(computation: Computation<Input, Output>, input: Input) => Promise<Output>

/**
 * Computes without blocking the event loop. A large input waits for a turn of the current user and then runs in a
 * thread. A thread that exceeds the limit of the computation or of the current call is ended. Rejects with the error of
 * the function, and with ComputationLimitError for too much time or memory. Rejects with 429 `rate_limited` or 503
 * `service_unavailable` when too many computations wait already.
 */
export async function compute<Input, Output>(computation: Computation<Input, Output>, input: Input): Promise<Output> {
  if (computation.isSmall(input)) return computation.run(input)
  return turns.run(() => computeInThread(computation, input, limitOf(computation, input)))
}

/**
 * Runs a transaction within one turn of the current user. The transaction computes large inputs in a thread without
 * waiting for another turn, because it may hold locks by then. So nobody who holds locks waits for a turn, and no
 * circle of waits can arise. Such a computation may take half of the time for which PostgreSQL lets a transaction
 * pause. Rejects with 503 `service_unavailable` when it takes longer, and when no turn is free.
 */
export function withinTurn<T>(transaction: (computeNow: Compute) => Promise<T>): Promise<T> {
  return turns.run(() => transaction(computeUnderLocks))
}

const underLocksMs = timeLimits.work.pause / 2

async function computeUnderLocks<Input, Output>(
  computation: Computation<Input, Output>,
  input: Input,
): Promise<Output> {
  if (computation.isSmall(input)) return computation.run(input)
  const limitMs = limitOf(computation, input)
  try {
    return await computeInThread(computation, input, Math.min(limitMs, underLocksMs))
  } catch (error) {
    const isLate = error instanceof ComputationLimitError && error.limit === 'time' && limitMs > underLocksMs
    if (!isLate) throw error
    throw new Refusal('service_unavailable', { headers: { 'Retry-After': '30' }, cause: 'locks were held too long' })
  }
}

function limitOf<Input>({ cpuMs }: Pick<Computation<Input, unknown>, 'cpuMs'>, input: Input): number {
  return Math.min(cpuMs(input), currentCall().mostMs)
}

/**
 * The load of the threads of this process: the computations that run and wait, and the number of computations in
 * threads by outcome.
 */
export function computationLoad(): { running: number; waiting: number; ends: Readonly<typeof ends> } {
  return { ...turns.state, ends: { ...ends } }
}

async function computeInThread<Input, Output>(
  { module, name }: Computation<Input, Output>,
  input: Input,
  limitMs: number,
): Promise<Output> {
  const begun = new Int32Array(new SharedArrayBuffer(8))
  const over = new AbortController()
  const watch = watchLimit({ begun, limitMs, over })
  const outcome = await pool
    .run({ module, name, input, limitMs, begun }, { signal: over.signal })
    .catch((error: { code?: string }): Outcome => {
      if (over.signal.aborted) return { overLimit: 'time' }
      if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') return { overLimit: 'memory' }
      ends.failed += 1
      throw error
    })
    .finally(() => clearInterval(watch))
  ends['overLimit' in outcome ? 'over_limit' : 'done'] += 1
  if ('output' in outcome) return outcome.output as Output
  if ('overLimit' in outcome) throw new ComputationLimitError(outcome.overLimit)
  const { code, message, status, details, headers } = outcome.refused
  throw new Refusal(code, { message, status, headers, ...(details !== undefined && { details }) })
}

// How often the processor time of a computation is looked at, in milliseconds.
const lookMs = 50
// A thread within one long call of the JavaScript runtime does not tell its processor time. Such a computation is ended
// when the thread has been silent for so many times the limit.
const maxSilence = 4

// Aborts a computation over its limit of processor time, which ends its thread. The clock alone does not count, because
// a busy machine must not refuse what it would compute when idle. Loading the module does not count either.
function watchLimit({ begun, limitMs, over }: { begun: Int32Array; limitMs: number; over: AbortController }) {
  let silentMs = 0
  const look = async () => {
    const thread = pool.threads.find(({ threadId }) => threadId === Atomics.load(begun, 0))
    if (thread === undefined) return
    silentMs += lookMs
    if (silentMs > maxSilence * limitMs) over.abort()
    const { user, system } = await thread.cpuUsage()
    silentMs = 0
    if ((user + system) / 1000 - Atomics.load(begun, 1) > limitMs) over.abort()
  }
  // The thread may end meanwhile, and does not tell its time then.
  return setInterval(() => void look().catch(() => {}), lookMs)
}
