import { Session } from 'node:inspector'

/** Executions of blocks of code: in all, and by the function they are in. */
export type Work = { total: number; byFunction: ReadonlyMap<string, number> }

type Range = { startOffset: number; count: number }
type Coverage = { result: { url: string; functions: { functionName: string; ranges: Range[] }[] }[] }

/**
 * Counts how often V8 executes the blocks of all code of this thread, that of packages included. The count of a
 * computation is the same on every machine. Work inside a native function (a regular expression, `normalize`, `splice`)
 * counts as nothing, so that it needs a look at the time as well.
 */
export class WorkCounter {
  readonly #session = new Session()

  constructor() {
    this.#session.connect()
    this.#post('Profiler.enable')
    this.#post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  }

  /** The work since the last call. */
  take(): Work {
    const { result } = this.#post('Profiler.takePreciseCoverage') as Coverage
    const byFunction = new Map<string, number>()
    let total = 0
    for (const { url, functions } of result) {
      if (url.includes('/test/hostile/')) continue
      for (const { functionName, ranges } of functions) {
        const count = ranges.reduce((sum, range) => sum + range.count, 0)
        const key = `${functionName || '(anonymous)'} ${url}:${ranges[0]?.startOffset ?? 0}`
        byFunction.set(key, (byFunction.get(key) ?? 0) + count)
        total += count
      }
    }
    return { total, byFunction }
  }

  #post(method: string, parameters: object = {}): unknown {
    let answer: unknown
    // A session within the thread answers before `post` returns.
    this.#session.post(method, parameters, (error, result) => {
      if (error !== null) throw error
      answer = result
    })
    return answer
  }
}
