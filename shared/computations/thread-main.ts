import { setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import { type ErrorCode, type ErrorDetails, Refusal } from '../errors/errors.ts'

/**
 * A task of the thread: a function of a module, its input, and the milliseconds of processor time that the function may
 * take.
 */
export type ThreadTask = { module: string; name: string; input: unknown; limitMs: number }

/** A message of the thread: first that the module is loaded, then the outcome of the computation. */
export type ThreadAnswer = { loaded: true } | Outcome

/** How a computation has ended. `overLimit` says that it took more processor time than it may. */
type Outcome = { output: unknown } | { refused: RefusalData } | { error: unknown } | { overLimit: true }

/** A refusal as plain data, since errors lose their class between threads. */
type RefusalData = {
  code: ErrorCode
  message: string
  status: number
  details: ErrorDetails | undefined
  headers: Record<string, string>
}

// The nice value of the threads. A nice value of -20 lets a thread run first, 19 lets it run last, and the event loop
// has 0.
const nice = 5

yieldToOthers()
parentPort?.on('message', async (task: ThreadTask) => parentPort?.postMessage(await answer(task)))

async function answer({ module, name, input, limitMs }: ThreadTask): Promise<Outcome> {
  try {
    const { [name]: run } = (await import(module)) as Record<string, (input: unknown) => unknown>
    if (run === undefined) throw new Error(`${module} does not export ${name}`)
    parentPort?.postMessage({ loaded: true } satisfies ThreadAnswer)
    const before = process.threadCpuUsage()
    const outcome = outcomeOf(() => run(input))
    const { user, system } = process.threadCpuUsage(before)
    // An event loop that was busy has not ended this computation, but the limit holds all the same.
    return user + system > limitMs * 1000 ? { overLimit: true } : outcome
  } catch (error) {
    return { error }
  }
}

function outcomeOf(run: () => unknown): Outcome {
  try {
    return { output: run() }
  } catch (error) {
    if (!(error instanceof Refusal)) return { error }
    const { code, message, status, details, headers } = error
    return { refused: { code, message, status, details, headers } }
  }
}

// On Linux a nice value belongs to one thread, so the event loop comes first. Elsewhere it belongs to the whole
// process.
function yieldToOthers(): void {
  if (process.platform !== 'linux') return
  try {
    setPriority(nice)
  } catch {
    // A sandbox may forbid the call. Then threads and event loop share the processors as equals.
  }
}
