import fc from 'fast-check'
import { unboundedLines } from '../../hostile/bounded.ts'
import { Measurer } from '../../hostile/measurer.ts'
import { tokens } from '../../hostile/texts.ts'
import { runsTimes } from '../../support/runs.ts'
import { t } from '../../support/tap.ts'

t.test('no combination of signs that a random search finds costs more than its size', async (t) => {
  const measurer = new Measurer({
    effort: { first: 64, work: 200_000, size: 2048, timedSize: 16_384 },
    patience: 60_000,
  })
  t.teardown(() => measurer.end())
  const unit = fc.array(fc.constantFrom(...tokens), { minLength: 1, maxLength: 4 }).map((parts) => parts.join(''))
  const part = fc.constantFrom('markdown' as const, 'texts' as const, 'requests' as const)
  const isLinear = fc.asyncProperty(part, unit, async (part, repeated) => {
    const lines = unboundedLines(await measurer.measure({ part, repeated }))
    if (lines.length > 0) throw new Error(lines.join('\n'))
  })
  // One run costs as much as many runs of other properties, and shrinking costs as much as finding.
  await fc.assert(isLinear, runsTimes(1 / 25))
})
