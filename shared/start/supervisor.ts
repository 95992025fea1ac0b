import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '../process/log.ts'
import type { RunningProcess } from './processes.ts'

/** A part of the service: a process of the Procfile, or PostgreSQL. `begin` rejects if it cannot be started. */
export type Part = { name: string; begin: () => Promise<RunningProcess> | RunningProcess }

type Options = {
  log: Logger
  /** Aborted when the whole service stops. */
  stopped: AbortSignal
  /** Whether the service has been ready. Before that, `fail` is called when a part ends. */
  isReady: () => boolean
  fail: (reason: string) => void
  /** Called when a part ends or runs again, with the names of the parts that do not run. */
  onChange: (down: string[]) => void
}

// The seconds before a part is started again after each death. Beyond these, it is tried again every 30 seconds.
const pauses = [1, 2, 4, 8]
const longPause = 30
// A part that has run for so many milliseconds has recovered from its earlier deaths.
const recoveredMs = 60_000

/** Runs the parts of the service, and restarts each of them when it ends, until `stopped` is aborted. */
export class Supervisor {
  readonly #options: Options
  // The process of each part; null while it does not run.
  readonly #processes = new Map<string, RunningProcess | null>()
  readonly #parts: Promise<void>[] = []

  constructor(options: Options) {
    this.#options = options
  }

  /** Starts a part. Rejects if it cannot be started the first time. */
  async run(part: Part): Promise<void> {
    const process = await part.begin()
    this.#processes.set(part.name, process)
    this.#parts.push(this.#keep(part, process))
  }

  /** The process of a part at the moment, if it runs. */
  process(name: string): RunningProcess | null {
    return this.#processes.get(name) ?? null
  }

  /**
   * Stops the parts that run, each with its patience in milliseconds, and the part `last` behind the others. To be
   * called when `stopped` is aborted.
   */
  async stop(patience: (name: string) => number, last: string): Promise<void> {
    const others = [...this.#processes].filter(([name]) => name !== last)
    await Promise.all(others.map(([name, process]) => process?.stop(patience(name))))
    await this.process(last)?.stop(patience(last))
    await Promise.all(this.#parts)
  }

  /** Kills the parts that run. */
  kill(): void {
    for (const process of this.#processes.values()) process?.kill()
  }

  async #keep(part: Part, first: RunningProcess): Promise<void> {
    const { name } = part
    const { log, stopped, isReady, fail } = this.#options
    let running = first
    let begun = performance.now()
    for (let deaths = 1; ; deaths += 1) {
      const reason = await running.ended
      this.#processes.set(name, null)
      if (stopped.aborted) return
      if (!isReady()) return fail(`${name} ${reason}`)
      if (performance.now() - begun > recoveredMs) deaths = 1
      this.#tell()
      const seconds = pauses[deaths - 1] ?? longPause
      const facts = { process: name, reason, restart_in_seconds: seconds }
      if (deaths === pauses.length + 1) log.error({ ...facts, output: running.lastLines() }, 'a process keeps ending')
      else log.warn(facts, 'a process ended')
      await sleep(seconds * 1000, undefined, { signal: stopped }).catch(() => {})
      if (stopped.aborted) return
      begun = performance.now()
      running = await Promise.resolve(part.begin()).catch((error: unknown) => notStarted(name, error))
      if (stopped.aborted) return running.stop(0)
      this.#processes.set(name, running)
      this.#tell()
    }
  }

  #tell(): void {
    this.#options.onChange([...this.#processes].flatMap(([name, process]) => (process === null ? [name] : [])))
  }
}

// Stands for a process that has ended at once.
function notStarted(name: string, cause: unknown): RunningProcess {
  const message = cause instanceof Error ? cause.message : String(cause)
  const ended = Promise.resolve('could not be started')
  return { name, ended, lastLines: () => message, stop: () => Promise.resolve(), kill() {} }
}
