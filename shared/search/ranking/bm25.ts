/** BM25 (decisions 2.8). */
export const bm25 = { k1: 1.2, b: 0.75 } as const

/**
 * Tokens of a usual block. The impact tiers of the index are reckoned with it, so that they never drift; ranking takes
 * the average of the blocks there are, and this where nobody has counted them.
 */
export const usualLength = 20

/** What a hit in a field counts, by which BM25 is multiplied (decisions 2.8). */
export const fieldWeights = { title: 2, heading: 1.3, body: 1 } as const

/**
 * From this impact on, field weight included, a lexeme is in tier 1, 2 and 3: about 12, 3 and 0.6 % of the blocks with a
 * word, and of words that are usual in titles all of these. Tier 4 are titles of few words, since the others alone can be
 * thousands.
 */
export const tierThresholds = [1.3, 1.5, 1.65, 2.9] as const

/**
 * Up to this tier a lexeme of a title is in all. Most would be anyway; that all are says of titles which ranking does not
 * look at that they are no matches.
 */
export const titleTiers = 3

type Occurring = { occurrences: number; length: number; averageLength: number }

/** The share of BM25 that does without document frequencies; lengths in tokens. */
export function impact({ occurrences, length, averageLength }: Occurring): number {
  const { k1, b } = bm25
  return (occurrences * (k1 + 1)) / (occurrences + k1 * (1 - b + (b * length) / averageLength))
}

/**
 * The most impact, field weight included, of a lexeme that is not in the tier of a threshold, where blocks have another
 * average length than the usual one.
 */
export function impactBelow(
  threshold: number,
  where: { field: keyof typeof fieldWeights; averageLength: number },
): number {
  const ratio = usualLength / where.averageLength
  const { k1, b } = bm25
  const weight = fieldWeights[where.field]
  // With x = k1 * (1 - b + b * length / average) / occurrences, an impact is (k1 + 1) / (1 + x).
  const x = (weight * (k1 + 1)) / threshold - 1
  const least = ratio * x - Math.max(0, k1 * (1 - b) * (ratio - 1))
  return (weight * (k1 + 1)) / (1 + Math.max(0, least))
}

/**
 * What a quoted phrase that stands in a block as it was written adds to its impact: as much as its other forms can have
 * in any field, so that these come behind it (decisions 2.8).
 */
export const verbatimImpact = (bm25.k1 + 1) * fieldWeights.title

/** The weight of a term in a block: its rarity times its impact. */
export function termWeight({ idf, verbatim, ...term }: { idf: number; verbatim: boolean } & Occurring): number {
  return term.occurrences === 0 ? 0 : idf * (impact(term) + (verbatim ? verbatimImpact : 0))
}

/** Rarity of a term that is in `matching` of `documents` units; never negative. */
export function idf({ documents, matching }: { documents: number; matching: number }): number {
  const found = Math.min(matching, documents)
  return Math.log(1 + (documents - found + 0.5) / (found + 0.5))
}
