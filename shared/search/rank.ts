import { fieldWeights, termWeight } from './bm25.ts'
import type { Hit } from './hits.ts'
import { contextOf, matchesOf } from './match.ts'
import type { Term } from './query.ts'
import type { SearchV2Result } from './schema.ts'
import { tokenise } from './tokenise.ts'

/** A hit with where it matched and how it scored. */
export type Found = {
  hit: Hit
  context: SearchV2Result['context']
  matchCount: number
  score: number
  explanation: SearchV2Result['score_explanation']
}

type Ranking = {
  terms: readonly Term[]
  /** The rarity of each term, in the order of the query. */
  weights: readonly number[]
  /** Tokens of a block on average. */
  averageLength: number
  relaxed: boolean
  order: 'score' | 'document'
}

/**
 * Finds the matches in the text of each hit with the tokeniser of the index, and orders ranked hits by BM25, then
 * document, then place (decisions 2.8). Hits of an ordered search stay as they are. Whether others could be better is
 * for the caller to know, who sets `exact`.
 */
export function rankHits(hits: readonly Hit[], ranking: Ranking): Found[] {
  const found = hits.map((hit) => assess(hit, ranking)).filter((hit) => hit !== null)
  if (ranking.order === 'document') return found
  return found.sort((a, b) => b.score - a.score || compare(a.hit, b.hit))
}

function assess(hit: Hit, { terms: sought, weights, averageLength, relaxed }: Ranking): Found | null {
  const { matchCount, occurrences, first } = matchesOf(sought, tokenise(hit.body, [hit.language]))
  const matched = occurrences.filter(({ count }) => count > 0).length
  // The index narrows a relaxed search down; whether half of the terms are there is counted here.
  if (first === null || (relaxed && matched * 2 < occurrences.length)) return null
  const field = fieldOf(hit.type)
  const { length } = hit
  const terms = occurrences.map(({ term, count, verbatim }, index) => {
    const idf = weights[index] ?? 0
    const weight = termWeight({ idf, occurrences: count, verbatim, length, averageLength })
    return { term, occurrences: count, weight: rounded(weight) }
  })
  const score = rounded(terms.reduce((sum, { weight }) => sum + weight, 0) * fieldWeights[field])
  const explanation = {
    model: 'bm25-1' as const,
    field,
    field_weight: fieldWeights[field],
    relaxed,
    exact: true,
    terms,
  }
  return { hit, context: contextOf(hit.body, first), matchCount, score, explanation }
}

function fieldOf(type: string): keyof typeof fieldWeights {
  return type === 'title' || type === 'heading' ? type : 'body'
}

function compare(a: Hit, b: Hit): number {
  if (a.document_id !== b.document_id) return a.document_id < b.document_id ? -1 : 1
  return a.ord - b.ord
}

function rounded(value: number): number {
  return Math.round(value * 1e6) / 1e6
}
