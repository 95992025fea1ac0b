import type { Queryable } from '../database.ts'
import { halfOf, relaxedDisjunctions } from './query.ts'
import { bestMatches, type Ranked, type Sought } from './ranked.ts'

type Relaxed = Omit<Sought, 'condition' | 'remainder' | 'required'> & {
  /** In how many blocks each term is. */
  matching: readonly number[]
}

/** The best of the blocks that contain at least half of three or more terms (decisions 2.8). */
export function bestRelaxed(db: Queryable, { matching, ...sought }: Relaxed): Promise<Ranked> {
  const counted = sought.terms.map((term, index) => ({ term, matching: matching[index] ?? 0 }))
  const rarestFirst = counted.sort((a, b) => a.matching - b.matching).map(({ term }) => term)
  const condition = relaxedDisjunctions(rarestFirst, sought.scopes)
  return bestMatches(db, { ...sought, condition, remainder: null, required: halfOf(sought.terms) })
}
