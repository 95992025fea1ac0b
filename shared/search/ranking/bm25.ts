import { bm25, fieldWeights, referenceLength } from './tuning.ts'

/** The fields of the index, each with a weight of its own. */
export type Field = keyof typeof fieldWeights

/**
 * The depth to which ranking reads the list of a term: 0 is every block with the term; 1 (widest) to 4 are only the
 * blocks in which the impact of the term reaches the tier.
 */
export type Tier = 0 | 1 | 2 | 3 | 4

type Occurring = { occurrences: number; length: number; averageLength: number }

/** The factor of BM25 that depends on the block alone, not on the rarity of the term; lengths in tokens. */
export function impact({ occurrences, length, averageLength }: Occurring): number {
  const { k1, b } = bm25
  return (occurrences * (k1 + 1)) / (occurrences + k1 * (1 - b + (b * length) / averageLength))
}

/**
 * The greatest impact, field weight included, that a term can have in a block where it does not reach a tier.
 * `threshold` is the impact from which on a word is in the tier. Tiers are computed with `referenceLength`, scores with
 * the average length of the blocks. The bound allows for this difference.
 */
export function impactOutside(threshold: number, where: { field: Field; averageLength: number }): number {
  const ratio = referenceLength / where.averageLength
  const { k1, b } = bm25
  const weight = fieldWeights[where.field]
  // With x = k1 * (1 - b + b * length / average) / occurrences, an impact is (k1 + 1) / (1 + x).
  const x = (weight * (k1 + 1)) / threshold - 1
  const least = ratio * x - Math.max(0, k1 * (1 - b) * (ratio - 1))
  return (weight * (k1 + 1)) / (1 + Math.max(0, least))
}

/**
 * The impact that a quoted phrase gains where it stands as it was written. This gain equals the greatest impact that
 * other forms of the phrase can have in any field. So a block with the phrase as it was written comes before all blocks
 * with other forms.
 */
export const verbatimImpact = (bm25.k1 + 1) * fieldWeights.title

/** The weight of a term in a block: its rarity times its impact. */
export function termWeight({ idf, verbatim, ...term }: { idf: number; verbatim: boolean } & Occurring): number {
  return term.occurrences === 0 ? 0 : idf * (impact(term) + (verbatim ? verbatimImpact : 0))
}

/**
 * The rarity of a term; never negative. `documents` is the number of all blocks, `matching` the number of blocks that
 * contain the term.
 */
export function idf({ documents, matching }: { documents: number; matching: number }): number {
  const found = Math.min(matching, documents)
  return Math.log(1 + (documents - found + 0.5) / (found + 0.5))
}
