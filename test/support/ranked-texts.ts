import { parseQuery } from '../../shared/search/matching/grammar.ts'
import { matchTerms } from '../../shared/search/matching/match.ts'
import { idf, termWeight } from '../../shared/search/ranking/bm25.ts'

/** A text of English words, of which some are frequent and some are rare. The same index gives the same text. */
export function textOf(index: number): string {
  const random = randomFrom(index + 1)
  const length = 6 + Math.floor(random() ** 2 * 60)
  const words = Array.from({ length }, () => {
    const frequent = random()
    if (frequent < 0.03) return 'kernel'
    if (frequent < 0.05) return 'memory'
    if (frequent < 0.06) return 'server'
    return `word${Math.floor(random() ** 3 * 400)}x`
  })
  return ['always', ...words, ...(index % 3000 === 7 ? ['ouverture'] : [])].join(' ')
}

/**
 * BM25 of every text with so many of the words of a query, all unless told; 0 of the other texts. `averageLength` is
 * that of the statistics of the index.
 */
export function scoresOf(
  texts: readonly string[],
  { q, averageLength, minimumShouldMatch }: { q: string; averageLength: number; minimumShouldMatch?: number },
): number[] {
  const query = parseQuery(q)
  const found = texts.map((text) => matchTerms(text, { query, languages: ['en'], language: 'en' }).occurrences)
  const terms = found[0]?.map((_, term) => found.filter((occurrences) => (occurrences[term]?.count ?? 0) > 0).length)
  const weights = (terms ?? []).map((matching) => idf({ documents: texts.length, matching }))
  return found.map((occurrences, index) => {
    if (occurrences.filter(({ count }) => count > 0).length < (minimumShouldMatch ?? occurrences.length)) return 0
    const length = texts[index]?.split(' ').length ?? 0
    return occurrences.reduce(
      (sum, { count, verbatim }, term) =>
        sum + termWeight({ idf: weights[term] ?? 0, occurrences: count, verbatim, length, averageLength }),
      0,
    )
  })
}

/** Numbers from 0 to 1 that a seed determines (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
