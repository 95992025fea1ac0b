import { threadId } from 'node:worker_threads'
import { type ErrorCode, type ErrorDetails, Refusal } from '../errors/errors.ts'

/**
 * A task of a thread: a function of a module, its input, and the milliseconds of processor time that the function may
 * take. When the function begins, the thread stores in the shared `begun` its id, and the milliseconds of processor
 * time that the thread has taken before.
 */
export type ThreadTask = { module: string; name: string; input: unknown; limitMs: number; begun: Int32Array }

/**
 * How a computation has ended. `overLimit` says what it took too much of. A refusal is plain data, since errors lose
 * their class between threads.
 */
export type Outcome =
  | { output: unknown }
  | { overLimit: 'time' | 'memory' }
  | {
      refused: Pick<Refusal, 'message' | 'status' | 'headers'> & { code: ErrorCode; details: ErrorDetails | undefined }
    }

/** Runs a task. A thread of the pool calls this function by its name. @public */
export async function runTask({ module, name, input, limitMs, begun }: ThreadTask): Promise<Outcome> {
  const { [name]: run } = (await import(module)) as Record<string, (input: unknown) => unknown>
  if (run === undefined) throw new Error(`${module} does not export ${name}`)
  const before = cpuMs()
  Atomics.store(begun, 1, before)
  Atomics.store(begun, 0, threadId)
  const outcome = outcomeOf(() => run(input))
  // An event loop that was busy has not ended this computation, but the limit holds all the same.
  return cpuMs() - before > limitMs ? { overLimit: 'time' } : outcome
}

function outcomeOf(run: () => unknown): Outcome {
  try {
    return { output: run() }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const { code, message, status, details, headers } = error
    return { refused: { code, message, status, details, headers } }
  }
}

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
