import { availableParallelism } from 'node:os'
import fc from 'fast-check'
import { unboundedLines } from '../hostile/bounded.ts'
import { Measurer } from '../hostile/measurer.ts'
import { type Cell, familiesOf, parts } from '../hostile/tables.ts'
import { tokens } from '../hostile/texts.ts'
import type { Figure } from './harness.ts'

const effort = { first: 64, work: 5_000_000, size: 65_536, timedSize: 1_048_576 }
const patience = 300_000
const randomCells = 200

/**
 * The long form of `test/hostile`: every reader with every family of inputs at larger sizes, and random inputs. All of
 * them would take hours. So the families are taken in a random order, on every processor, until `seconds` have passed.
 * The figures say which share was measured, and the same `seed` gives the same order again.
 */
export async function measureGrowth({ seconds, seed = Date.now() % 2 ** 31 }: Extent): Promise<Figure[]> {
  const cells = inRandomOrder([...named(), ...random(seed)], seed)
  const waiting = [...cells]
  const measured: Cell[] = []
  const found: Figure[] = []
  const over = performance.now() + seconds * 1000
  const lane = async () => {
    const measurer = new Measurer({ effort, patience })
    const end = setTimeout(() => void measurer.end(), over - performance.now())
    for (let cell = waiting.shift(); cell !== undefined; cell = waiting.shift()) {
      const result = await measurer.measure(cell)
      // A measurement that the end of the time has cut off says nothing.
      if (performance.now() >= over) break
      measured.push(cell)
      process.stderr.write(`\r${measured.length} of ${cells.length} `)
      for (const line of unboundedLines(result)) found.push({ name: line, value: 'grows', bar: 'linear', met: false })
    }
    clearTimeout(end)
    await measurer.end()
  }
  await Promise.all(Array.from({ length: availableParallelism() }, lane))
  process.stderr.write('\n')
  return [
    ...found,
    {
      name: `families of inputs measured in ${seconds} s, with seed ${seed}`,
      value: `${measured.length} of ${cells.length} (${sharesOf(measured, cells)})`,
    },
    {
      name: 'readers that cost more than their input, among those measured',
      value: String(found.length),
      bar: 'none',
      met: found.length === 0,
    },
  ]
}

/** The time of the measurement, and the number from which its order follows. */
type Extent = { seconds: number; seed?: number }

function named(): Cell[] {
  return parts.flatMap((part) => familiesOf(part).map((family): Cell => ({ part, family })))
}

function random(seed: number): Cell[] {
  const unit = fc.array(fc.constantFrom(...tokens), { minLength: 1, maxLength: 5 }).map((signs) => signs.join(''))
  const part = fc.constantFrom('markdown' as const, 'documents' as const, 'texts' as const, 'requests' as const)
  return fc.sample(fc.record({ part, repeated: unit }), { numRuns: randomCells, seed })
}

function inRandomOrder(cells: readonly Cell[], seed: number): Cell[] {
  const all = fc.shuffledSubarray([...cells], { minLength: cells.length })
  return fc.sample(all, { numRuns: 1, seed })[0] ?? []
}

/** The measured number of all families of each part, and of random inputs. */
function sharesOf(measured: readonly Cell[], cells: readonly Cell[]): string {
  const kindOf = (cell: Cell) => ('repeated' in cell ? 'random' : cell.part)
  const done = Map.groupBy(measured, kindOf)
  return Array.from(
    Map.groupBy(cells, kindOf),
    ([kind, all]) => `${kind} ${done.get(kind)?.length ?? 0} of ${all.length}`,
  ).join(', ')
}
