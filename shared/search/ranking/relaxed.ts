import type { Queryable } from '../../database/database.ts'
import { halfOf, relaxedDisjunctions } from '../matching/query.ts'
import { matchingLimit } from '../statement/candidates.ts'
import { bestMatches, type Ranked, type Sought } from '../top-k.ts'

type Relaxed = Omit<Sought, 'condition' | 'remainder' | 'required'> & {
  /** In how many blocks each term is. */
  matching: readonly number[]
}

/** The best of the blocks that contain at least half of three or more terms (decisions 2.8). */
export function bestRelaxed(db: Queryable, sought: Relaxed): Promise<Ranked> {
  const { terms, scopes, matching } = sought
  const counted = terms.map((term, index) => ({ term, matching: matching[index] ?? 0 }))
  const rarestFirst = counted.sort((a, b) => a.matching - b.matching).map(({ term }) => term)
  const condition = relaxedDisjunctions(rarestFirst, scopes)
  // Of a word that was counted up to the limit it is not known how many blocks match.
  const known = matching.map((number) => (number === matchingLimit ? Number.POSITIVE_INFINITY : number))
  return bestMatches(db, { ...sought, matching: known, condition, remainder: null, required: halfOf(terms) })
}
