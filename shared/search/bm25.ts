/** BM25 with fixed constants, so that the impact tiers of the index never drift (search memo, section 2). */
export const bm25 = { k1: 1.2, b: 0.75, averageLength: 34 } as const

/** What a hit in a field counts, by which BM25 is multiplied (decisions 2.8). */
export const fieldWeights = { title: 2, heading: 1.3, body: 1 } as const

/** From this impact on, field weight included, a lexeme is in tier 1, 2 and 3. */
export const tierThresholds = [1.4, 1.6, 1.75] as const

/** The share of BM25 that the index knows without document frequencies; `length` in tokens. */
export function impact({ occurrences, length }: { occurrences: number; length: number }): number {
  const { k1, b, averageLength } = bm25
  return (occurrences * (k1 + 1)) / (occurrences + k1 * (1 - b + (b * length) / averageLength))
}

/** The weight of a term in a block: its rarity times its impact. */
export function termWeight(term: { idf: number; occurrences: number; length: number }): number {
  return term.occurrences === 0 ? 0 : term.idf * impact(term)
}

/** Rarity of a term that is in `matching` of `documents` units; never negative. */
export function idf({ documents, matching }: { documents: number; matching: number }): number {
  const found = Math.min(matching, documents)
  return Math.log(1 + (documents - found + 0.5) / (found + 0.5))
}
