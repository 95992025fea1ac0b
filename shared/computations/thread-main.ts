import { setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import { type ErrorCode, type ErrorDetails, Refusal } from '../errors/errors.ts'

/** A task of the thread: a function of a module, and its input. */
type Task = { module: string; name: string; input: unknown }

/** A message of the thread: first that the module is loaded, then the outcome of the computation. */
export type ThreadAnswer = { loaded: true } | { output: unknown } | { refused: RefusalData } | { error: unknown }

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
parentPort?.on('message', async (task: Task) => parentPort?.postMessage(await answer(task)))

async function answer({ module, name, input }: Task): Promise<ThreadAnswer> {
  try {
    const { [name]: run } = (await import(module)) as Record<string, (input: unknown) => unknown>
    if (run === undefined) throw new Error(`${module} does not export ${name}`)
    parentPort?.postMessage({ loaded: true } satisfies ThreadAnswer)
    return { output: run(input) }
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
