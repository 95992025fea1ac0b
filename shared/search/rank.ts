import { setImmediate } from 'node:timers/promises'
import { contextOf, type Matches, matchesOf } from './matching/match.ts'
import type { Term } from './matching/query.ts'
import { type Window, windowSize, windowsOf } from './matching/windows.ts'
import { fieldWeights, termWeight } from './ranking/bm25.ts'
import type { SearchV2Hit } from './schema.ts'
import type { Hit } from './statement/hits.ts'
import { tokenise } from './text/tokenise.ts'

/** A hit with where it matched and how it scored. */
export type Found = {
  hit: Hit
  context: SearchV2Hit['context']
  matchCount: number
  score: number
  explanation: SearchV2Hit['score_explanation']
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
 * for the caller to know, who clears `exact` then; it is false already for a hit whose text was matched in parts. The
 * event loop is free between any two parts of so many texts.
 */
export async function rankHits(hits: readonly Hit[], ranking: Ranking): Promise<Found[]> {
  const turns = new Turns()
  const found: Found[] = []
  for (const hit of hits) {
    const assessed = assess(hit, { ...ranking, matches: await matchesIn(hit, { ...ranking, turns }) })
    if (assessed !== null) found.push(assessed)
  }
  if (ranking.order === 'document') return found
  return found.sort((a, b) => b.score - a.score || compare(a.hit, b.hit))
}

/** Lets others run after each `windowSize` units of text. */
class Turns {
  #units = 0

  async take(units: number): Promise<void> {
    if (this.#units > 0 && this.#units + units > windowSize) {
      await setImmediate()
      this.#units = 0
    }
    this.#units += units
  }
}

// A phrase that goes on from one window to the next is not counted. If nothing else matches, other windows hold it.
async function matchesIn(hit: Hit, ranking: Ranking & { turns: Turns }): Promise<Matches> {
  const matches = await matchesInAll(windowsOf(hit.body), { ...ranking, hit })
  if (matches.first !== null || hit.body.length <= windowSize) return matches
  return matchesInAll(windowsOf(hit.body, windowSize / 2), { ...ranking, hit })
}

async function matchesInAll(
  windows: readonly Window[],
  { hit, terms, turns }: Ranking & { hit: Hit; turns: Turns },
): Promise<Matches> {
  let all = matchesOf(terms, [])
  for (const { text, start } of windows) {
    await turns.take(text.length)
    const found = matchesOf(terms, tokenise(text, [hit.language]))
    const first = found.first && { start: found.first.start + start, end: found.first.end + start }
    all = bothOf(all, { ...found, first })
  }
  return all
}

function bothOf(left: Matches, right: Matches): Matches {
  return {
    matchCount: left.matchCount + right.matchCount,
    occurrences: left.occurrences.map(({ term, count, verbatim }, index) => {
      const further = right.occurrences[index]
      return { term, count: count + (further?.count ?? 0), verbatim: verbatim || further?.verbatim === true }
    }),
    first: left.first ?? right.first,
  }
}

function assess(hit: Hit, ranking: Ranking & { matches: Matches }): Found | null {
  const { matches, weights, averageLength, relaxed } = ranking
  const { matchCount, occurrences, first } = matches
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
    exact: hit.body.length <= windowSize,
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
