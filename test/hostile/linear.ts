import type { Test } from 'tap'
import { unboundedLines } from './bounded.ts'
import { Measurer } from './measurer.ts'
import { familiesOf, type Part } from './tables.ts'
import { reproduced } from './texts.ts'

// Small sizes, so that all parts together take about thirty seconds of a processor.
const effort = { work: 200_000, size: 2048, timedSize: 16_384 }
const patience = 60_000

/**
 * The cells that a test measures of its part: the families that broke the service before, and a sample of the others,
 * from `first` characters or nodes on.
 */
type Extent = { families?: ReadonlySet<string>; every?: number; first?: number }

/** Fails for every reader of a part whose cost grows faster than its input, except for the known exceptions. */
export async function requireLinear(t: Test, part: Part, extent: Extent = {}): Promise<void> {
  const { families: broken = reproduced, every = Infinity, first = 64 } = extent
  const measurer = new Measurer({ effort: { first, ...effort }, patience })
  t.teardown(() => measurer.end())
  const families = familiesOf(part).filter((family, index) => broken.has(family) || index % every === every - 1)
  for (const family of families) {
    t.strictSame(unboundedLines(await measurer.measure({ part, family })), [], `${part} × ${family}`)
  }
}
