import { contextOf, type Matches, type Span } from './matching/match.ts'
import type { Term } from './matching/term.ts'
import { matchesInWindows, windowSize, YieldingTurns } from './matching/windows.ts'
import { type Field, termWeight } from './ranking/bm25.ts'
import { fieldWeights } from './ranking/tuning.ts'
import type { SearchV2Hit } from './schema.ts'
import type { Hit } from './statement/hits.ts'

/** A hit with its matches in the text and its score. */
export type RankedHit = {
  hit: Hit
  context: SearchV2Hit['context']
  /** The matches that the context may show: the first match, and the matches of all terms near it. */
  shown: { first: Span; near: readonly Span[] }
  matchCount: number
  /** Whether a word that is being typed stands in the text as a whole; true for relaxed hits. Such hits come first. */
  whole: boolean
  score: number
  explanation: SearchV2Hit['score_explanation']
  /** The number of further matches in the document; absent unless the hits of one document are limited. */
  moreInDocument?: number
}

type Ranking = {
  terms: readonly Term[]
  /** What a hit and the title of its document must not contain; absent for nothing. */
  excluded?: { text: readonly Term[]; titles: readonly Term[] }
  /** The rarity of each term, in the order of the query. */
  weights: readonly number[]
  /** Tokens of a block on average. */
  averageLength: number
  /** How many of the terms suffice. */
  minimumShouldMatch: number
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
  const { terms, excluded } = ranking
  const turns = new YieldingTurns()
  const ranked: RankedHit[] = []
  for (const hit of hits) {
    const { language } = hit
    const contains = async (text: string, any: readonly Term[] = []) =>
      any.length > 0 && (await matchesInWindows(text, { terms: any, language, turns })).first !== null
    if ((await contains(hit.body, excluded?.text)) || (await contains(hit.title, excluded?.titles))) continue
    const matches = await matchesInWindows(hit.body, { terms, language, turns })
    const scored = scoredHit(hit, { ...ranking, matches })
    if (scored !== null) ranked.push(scored)
  }
  return ranking.order === 'document' ? ranked : inOrder(ranked, ranking.order)
}

/** Sorts hits by time if so ordered, then whole words before mere beginnings, then by score, document and block. */
export function inOrder(hits: readonly RankedHit[], order: HitOrder): RankedHit[] {
  const byTime = order === 'updated_at'
  return hits.toSorted(
    (a, b) =>
      (byTime ? b.hit.updated_at - a.hit.updated_at : 0) ||
      Number(b.whole) - Number(a.whole) ||
      b.score - a.score ||
      compare(a.hit, b.hit),
  )
}

function scoredHit(hit: Hit, ranking: Ranking & { matches: Matches }): RankedHit | null {
  const { matches, weights, averageLength, minimumShouldMatch } = ranking
  const { matchCount, occurrences, first, near } = matches
  const matched = occurrences.filter(({ count }) => count > 0).length
  const relaxed = minimumShouldMatch < occurrences.length
  // For a relaxed search the index only finds candidates. How many terms a text contains is counted here.
  if (first === null || (relaxed && matched < minimumShouldMatch)) return null
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
  const whole = relaxed || occurrences.every((occurrence) => occurrence.whole)
  const context = contextOf(hit.body, first)
  return { hit, context, shown: { first, near }, matchCount, whole, score, explanation }
}

function fieldOf(type: string): Field {
  return type === 'title' || type === 'heading' ? type : 'body'
}

function compare(a: Hit, b: Hit): number {
  if (a.document_id !== b.document_id) return a.document_id < b.document_id ? -1 : 1
  return a.ord - b.ord
}

/** A part of a score, with six digits. */
export function rounded(value: number): number {
  return Math.round(value * 1e6) / 1e6
}
