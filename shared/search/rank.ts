import { contextOf, type Matches } from './matching/match.ts'
import type { Term } from './matching/query.ts'
import { matchesInWindows, windowSize, YieldingTurns } from './matching/windows.ts'
import { type Field, termWeight } from './ranking/bm25.ts'
import { fieldWeights } from './ranking/tuning.ts'
import type { SearchV2Hit } from './schema.ts'
import type { Hit } from './statement/hits.ts'

/** A hit with its matches in the text and its score. */
export type RankedHit = {
  hit: Hit
  context: SearchV2Hit['context']
  matchCount: number
  score: number
  explanation: SearchV2Hit['score_explanation']
  /** The number of further matches in the document; absent unless the hits of one document are limited. */
  moreInDocument?: number
}

type Ranking = {
  terms: readonly Term[]
  /** The rarity of each term, in the order of the query. */
  weights: readonly number[]
  /** Tokens of a block on average. */
  averageLength: number
  /** Whether half of the terms suffice. */
  relaxed: boolean
  order: HitOrder
}

/** The order of hits: by score, by document, or by the time of the document's last change and then by score. */
export type HitOrder = 'score' | 'document' | 'updated_at'

/**
 * Finds the matches in the text of each hit with the tokeniser of the index, and scores the hits by BM25. By `order`,
 * the hits are sorted by time, score, document and block, or keep the order in which they came. `exact` is false for a
 * text that was matched in windows. The caller also sets `exact` to false where blocks that were not read could be
 * better. The event loop is free after each 65,536 UTF-16 units of text.
 */
export async function rankHits(hits: readonly Hit[], ranking: Ranking): Promise<RankedHit[]> {
  const { terms } = ranking
  const turns = new YieldingTurns()
  const ranked: RankedHit[] = []
  for (const hit of hits) {
    const matches = await matchesInWindows(hit.body, { terms, language: hit.language, turns })
    const scored = scoredHit(hit, { ...ranking, matches })
    if (scored !== null) ranked.push(scored)
  }
  if (ranking.order === 'document') return ranked
  const byTime = ranking.order === 'updated_at'
  return ranked.sort(
    (a, b) => (byTime ? b.hit.updated_at - a.hit.updated_at : 0) || b.score - a.score || compare(a.hit, b.hit),
  )
}

function scoredHit(hit: Hit, ranking: Ranking & { matches: Matches }): RankedHit | null {
  const { matches, weights, averageLength, relaxed } = ranking
  const { matchCount, occurrences, first } = matches
  const matched = occurrences.filter(({ count }) => count > 0).length
  // For a relaxed search the index only finds candidates. Whether a text contains half of the terms is counted here.
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
    exact: hit.body.length <= windowSize,
    terms,
  }
  return { hit, context: contextOf(hit.body, first), matchCount, score, explanation }
}

function fieldOf(type: string): Field {
  return type === 'title' || type === 'heading' ? type : 'body'
}

function compare(a: Hit, b: Hit): number {
  if (a.document_id !== b.document_id) return a.document_id < b.document_id ? -1 : 1
  return a.ord - b.ord
}

function rounded(value: number): number {
  return Math.round(value * 1e6) / 1e6
}
