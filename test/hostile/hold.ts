import type { Test } from 'tap'
import { unboundedLines } from './bounded.ts'
import { Measurer } from './measurer.ts'
import { familiesOf, type Part } from './tables.ts'
import { reproduced } from './texts.ts'

// Small, so that all parts together take some twenty seconds of a processor where everything is linear.
const effort = { work: 200_000, size: 2048, timedSize: 16_384 }
const patience = 60_000

/** What part of the table a test measures: families that broke the service before, and every so many of the others. */
type Extent = { every?: number; first?: number }

/** Fails for every reader of a part that costs more than its input, unless it is named among the bounded ones. */
export async function hold(t: Test, part: Part, { every = 1, first = 64 }: Extent = {}): Promise<void> {
  const measurer = new Measurer({ effort: { first, ...effort }, patience })
  t.teardown(() => measurer.end())
  const families = familiesOf(part).filter((family, index) => reproduced.has(family) || index % every === 0)
  for (const family of families) {
    t.strictSame(unboundedLines(await measurer.measure({ part, family })), [], `${part} × ${family}`)
  }
}
