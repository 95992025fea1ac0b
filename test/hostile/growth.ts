import type { Test } from 'tap'

/** The same work on a small input and on one four times as large. */
export type Growth<T> = { small: T; large: T; work: (input: T) => void }

/** The allowed ratio of the two costs: far more than four, far less than the square of four. */
const bound = 9
// A time below this many milliseconds is too short to be compared.
const negligible = 20

/**
 * Asserts that work on an input four times as large takes nowhere near sixteen times as long. Both are measured in
 * processor time of this thread, so other processes do not count. Where the ratio is high, the measurement is repeated
 * and the least value counts.
 */
export function assertLinear<T>(t: Test, name: string, { small, large, work }: Growth<T>): void {
  let best = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY] as const
  for (let round = 0; round < 8; round += 1) {
    best = [
      Math.min(
        best[0],
        timeOf(() => work(small)),
      ),
      Math.min(
        best[1],
        timeOf(() => work(large)),
      ),
    ]
    if (isLinear(best)) return
  }
  t.fail(`${JSON.stringify(name)} took ${best[0]} ms and, four times as large, ${best[1]} ms`)
}

function isLinear([small, large]: readonly [number, number]): boolean {
  return large < negligible || large < bound * small
}

function timeOf(work: () => void): number {
  const before = process.threadCpuUsage()
  work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}
