import { Session } from 'node:inspector'

/** The number of executed code blocks, in total and by function. */
export type Work = { total: number; byFunction: ReadonlyMap<string, number> }

type Range = { startOffset: number; count: number }
type Coverage = { result: { url: string; functions: { functionName: string; ranges: Range[] }[] }[] }

/**
 * Counts how often V8 executes the code blocks of this thread, those of packages included. The count of a computation
 * is the same on every machine. Work inside a native function (a regular expression, `normalize`, `splice`) is not
 * counted, so its time has to be measured, too.
 */
export class WorkCounter {
  readonly #session = new Session()

  constructor() {
    this.#session.connect()
    this.#post('Profiler.enable')
    this.#post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  }

  /** The work since the previous call. */
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

  /** Ends the counting, which makes all code several times as slow. */
  end(): void {
    this.#session.disconnect()
  }

  #post(method: string, parameters: object = {}): unknown {
    let answer: unknown
    // An inspector session in the same thread answers before `post` returns.
    this.#session.post(method, parameters, (error, result) => {
      if (error !== null) throw error
      answer = result
    })
    return answer
  }
}
