import type { Queryable } from '../database.ts'
import { halfOf, relaxedDisjunctions, tellsAll } from './query.ts'
import { bestMatches, type Ranked, type Sought } from './ranked.ts'
import { atLeast } from './tiers.ts'

type Relaxed = Omit<Sought, 'condition' | 'remainder' | 'required' | 'partial' | 'expected'> & {
  scopes: readonly string[]
  /** All blocks there are, and how many of them contain each term. */
  blocks: number
  matching: readonly number[]
}

/**
 * The best of the blocks that contain at least half of three or more terms (decisions 2.8). Rare words make a match
 * score, and the lists of common ones make a search slow; so matches with a rare word are looked at first, and the
 * others only while there are not enough.
 */
export async function bestRelaxed(db: Queryable, { scopes, blocks, matching, ...sought }: Relaxed): Promise<Ranked> {
  const terms = sought.terms.map((term, index) => ({ ...term, share: Math.min(1, (matching[index] ?? 0) / blocks) }))
  terms.sort((a, b) => a.share - b.share)
  const required = halfOf(terms)
  const expectedOf = (telling: number) => {
    const chances = terms.slice(0, telling).map(({ share }, index) => {
      return (
        share *
        atLeast(
          required - 1,
          terms.slice(index + 1).map((other) => other.share),
        )
      )
    })
    return blocks * chances.reduce((sum, chance) => sum + chance, 0)
  }
  let telling = 1
  while (!tellsAll(terms, telling) && expectedOf(telling) < 2 * sought.limit) telling += 1
  for (; ; telling *= 2) {
    const whole = tellsAll(terms, telling)
    const ranked = await bestMatches(db, {
      ...sought,
      condition: relaxedDisjunctions(terms, scopes, telling),
      remainder: null,
      required,
      expected: expectedOf(telling),
      partial: !whole,
    })
    if (whole || ranked.hits.length > sought.limit) return ranked
  }
}
