import root, { type Test } from 'tap'

export type { Test }

/**
 * The test of the file that runs: its tests are made of `t`. In a lane many files run in one process, one after the
 * other, and each of them is a test of its own, whose end ends what the file has started.
 */
export let t: Test = root

/** Makes `t` the test of the file that is imported next. */
export function enterFile(test: Test): void {
  t = test
}
