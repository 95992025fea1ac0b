import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { Refusal } from '../errors/errors.ts'
import { type Computation, ComputationLimitError } from './computation.ts'
import type { ThreadAnswer } from './thread-main.ts'

const memoryLimits = { maxOldGenerationSizeMb: 512, stackSizeMb: 4 }

/**
 * A thread that runs computations, one at a time. A computation over its limit costs the thread: `isUsable` is false
 * from then on. Only while it computes does a thread keep the process alive.
 */
export class Thread {
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

  /** Runs a computation; refuses as it does, and with ComputationLimitError what takes too much time or memory. */
  async run<Input, Output>(computation: Computation<Input, Output>, input: Input): Promise<Output> {
    const { module, name } = computation
    const over = new AbortController()
    const { promise, resolve, reject } = Promise.withResolvers<ThreadAnswer>()
    this.#onEnd = reject
    this.#onAnswer = (answer) => {
      // What loading the module takes is not the input's fault.
      if ('loaded' in answer) void this.#endLate(computation.cpuMs(input), over.signal)
      else resolve(answer)
    }
    this.#worker.ref()
    try {
      this.#worker.postMessage({ module, name, input })
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

  // The time of the processor counts, not that of the clock: a busy machine must not refuse what it computes otherwise.
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
      // It has answered, or the thread has ended, which the caller hears of by itself.
      return
    }
    this.#ended(new ComputationLimitError('time'))
    // A single call of the runtime cannot be interrupted, so nobody waits for the thread to end.
    void this.#worker.terminate()
  }
}

// A thread within one long call of the runtime does not say what it has used. Then the clock counts, so many times.
const unanswered = 4

function outputOf(answer: ThreadAnswer): unknown {
  if ('output' in answer) return answer.output
  if (!('refused' in answer)) throw 'error' in answer ? answer.error : new Error('no answer')
  const { code, message, status, details, headers } = answer.refused
  throw new Refusal(code, { message, status, headers, ...(details !== undefined && { details }) })
}

function isOutOfMemory(error: Error): boolean {
  return (error as { code?: string }).code === 'ERR_WORKER_OUT_OF_MEMORY'
}
