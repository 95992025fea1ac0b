import fc from 'fast-check'
import { unboundedLines } from '../hostile/bounded.ts'
import { Measurer } from '../hostile/measurer.ts'
import { type Cell, familiesOf, parts } from '../hostile/tables.ts'
import { tokens } from '../hostile/texts.ts'
import type { Figure } from './harness.ts'

const effort = { first: 64, work: 5_000_000, size: 65_536, timedSize: 1_048_576 }
const patience = 300_000
const randomCells = 200

/** The long form of `test/hostile`: every reader with every family of inputs at larger sizes, and random inputs. */
export async function measureGrowth(): Promise<Figure[]> {
  const measurer = new Measurer({ effort, patience })
  const found: Figure[] = []
  const cells = [...parts.flatMap((part) => familiesOf(part).map((family): Cell => ({ part, family }))), ...random()]
  for (const [index, cell] of cells.entries()) {
    process.stderr.write(`\r${index + 1} of ${cells.length} `)
    for (const line of unboundedLines(await measurer.measure(cell))) {
      found.push({ name: line, value: 'grows', bar: 'linear', met: false })
    }
  }
  process.stderr.write('\n')
  await measurer.end()
  const value = `${cells.length - found.length} of ${cells.length}`
  return [...found, { name: 'families of inputs whose readers are linear', value, bar: 'all', met: found.length === 0 }]
}

function random(): Cell[] {
  const unit = fc.array(fc.constantFrom(...tokens), { minLength: 1, maxLength: 5 }).map((signs) => signs.join(''))
  const part = fc.constantFrom('markdown' as const, 'documents' as const, 'texts' as const, 'requests' as const)
  return fc.sample(fc.record({ part, repeated: unit }), randomCells)
}
