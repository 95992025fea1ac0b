import { availableParallelism } from 'node:os'
import { Refusal } from '../errors/errors.ts'
import { Turns } from '../turns/turns.ts'
import { type Computation, ComputationLimitError } from './computation.ts'
import { Thread } from './thread.ts'

// With a thread more than one workspace may have, whoever else comes finds a free one.
const atOnce = Math.max(2, availableParallelism())

const turns = new Turns({
  atOnce,
  ofOneWorkspace: atOnce - 1,
  waiting: 128,
  waitingOfOneUser: 32,
  patienceMs: 60_000,
})

const idle: Thread[] = []
const ends = { done: 0, failed: 0, over_limit: 0 }

/**
 * Computes without holding the event loop: what is not small waits for a turn of the current requester and then runs in a
 * thread, which its end over a limit costs. Rejects as the function throws, with ComputationLimitError for what takes too
 * much time or memory, and with 503 `service_unavailable` when too much waits already.
 */
export async function compute<Input, Output>(computation: Computation<Input, Output>, input: Input): Promise<Output> {
  if (computation.isSmall(input)) return computation.run(input)
  return turns.run(() => computeInThread(computation, input))
}

/** What the threads of this process do: pieces that run and that wait, and how those in threads have ended. */
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

// A thread may have ended while it had nothing to do.
function idleThread(): Thread | undefined {
  for (let thread = idle.pop(); thread !== undefined; thread = idle.pop()) if (thread.isUsable) return thread
  return undefined
}

// A refusal is an answer like any other.
function endOf(error: unknown): keyof typeof ends {
  if (error instanceof Refusal) return 'done'
  return error instanceof ComputationLimitError ? 'over_limit' : 'failed'
}
