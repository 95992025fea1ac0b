import { StoredBody } from '../../body/stored-body.ts'
import { type Computation, computation } from '../../computations/computation.ts'
import { type PlacedUnit, placeUnits } from './present.ts'
import type { UnitPlace, UnitRow } from './queries.ts'

/**
 * A translation as plain data that a thread can take. `source` and `target` are the stored bodies of source document
 * and translation, one top-level block a line. `units` is the JSON text of a list of `UnitRow`, or of `UnitPlace` for
 * functions that need only the blocks of each unit.
 */
export type PairTexts = { source: string; target: string; units: string }

/** Returns the units of a translation with their texts, in the order of the source. */
export function unitsIn<Unit extends UnitPlace = UnitRow>({ source, target, units }: PairTexts): PlacedUnit<Unit>[] {
  return placeUnits<Unit>(JSON.parse(units), { source: bodyOf(source), target: bodyOf(target) })
}

/**
 * The most characters of both bodies and the units together that need no thread. Each computation on such a pair takes
 * less than 20 ms.
 */
const smallLength = 64 * 1024

/**
 * Declares a computation on both bodies and the units of a translation. The computation needs a thread unless bodies
 * and units are small. On an ordinary translation it takes 0.02 µs a character.
 */
export function pairComputation<Input extends PairTexts, Output>(
  declared: Pick<Computation<Input, Output>, 'module' | 'run'>,
): Computation<Input, Output> {
  return computation({
    ...declared,
    isSmall: (input) => lengthOf(input) <= smallLength,
    cpuMs: (input) => Math.min(10_000, 2000 + lengthOf(input) * 0.005),
  })
}

function bodyOf(text: string): StoredBody {
  return new StoredBody({ version: '', text })
}

function lengthOf({ source, target, units }: PairTexts): number {
  return source.length + target.length + units.length
}
