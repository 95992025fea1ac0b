import type { Queryable } from '../database/database.ts'
import { bestOfDocuments } from './groups.ts'
import { anyTerm, halfCondition, halfOf } from './matching/query.ts'
import type { TopK, TopKQuery } from './pass.ts'
import { inOrder, type RankedHit, rounded } from './rank.ts'
import { blocksOfDocuments, fieldWeights, matchingLimit, partInDocument } from './ranking/tuning.ts'
import type { Condition } from './statement/request.ts'
import { topK } from './top-k.ts'

/**
 * A search for blocks with half of the terms. `matching` counts the blocks that contain a term, by the `tsquery` of the
 * term.
 */
export type RelaxedQuery = Omit<TopKQuery, keyof Condition | 'minimumShouldMatch' | 'matching'> & {
  matching: ReadonlyMap<string, number>
}

/**
 * Finds the best of the blocks that contain at least half of the terms. Where no block does, finds documents whose best
 * blocks contain half of them together. All hits are marked as relaxed. Pass a snapshot as `db`.
 */
export async function topKOfHalf(db: Queryable, query: RelaxedQuery): Promise<TopK> {
  const half = halfOf(query.terms)
  const inBlocks = await topKOfSome(db, query, half)
  if (inBlocks.hits.length > 0 || half === 1) return inBlocks
  return topKOfDocuments(db, { ...query, documentCount: inBlocks.answer.document_count }, half)
}

// The hits of a document are limited and sorted by time only after the words of all its hits are known.
async function topKOfDocuments(db: Queryable, query: RelaxedQuery, least: number): Promise<TopK> {
  const { limit, sort = 'relevance', perDocument, ...other } = query
  const most = Math.max(limit, blocksOfDocuments)
  const ofAny = perDocument === undefined ? other : { ...other, perDocument: most }
  const { hits, answer } = await topKOfSome(db, { ...ofAny, limit: most }, 1)
  const found = inOrder(inDocuments(hits, least), sort === 'updated_at' ? sort : 'score')
  return { hits: perDocument === undefined ? found : bestOfDocuments(found, perDocument), answer }
}

async function topKOfSome(db: Queryable, query: RelaxedQuery, minimumShouldMatch: number): Promise<TopK> {
  const { terms, scopes } = query
  const counts = terms.map(({ tsquery }) => query.matching.get(tsquery) ?? matchingLimit)
  // A count that reached its limit says nothing about how many blocks match.
  const matching = counts.map((count) => (count === matchingLimit ? Number.POSITIVE_INFINITY : count))
  const counted = terms.map((term, index) => ({ term, matching: matching[index] ?? 0 }))
  const rarestFirst = counted.sort((a, b) => a.matching - b.matching).map(({ term }) => term)
  const condition = minimumShouldMatch === 1 ? anyTerm(terms, scopes) : halfCondition(rarestFirst, scopes)
  const { hits, answer } = await topK(db, { ...query, matching, condition, recheck: query.always, minimumShouldMatch })
  return { hits: hits.map((hit) => ({ ...hit, explanation: { ...hit.explanation, relaxed: true } })), answer }
}

/**
 * The hits of the documents that have at least `least` of the terms in their hits together. A term that a block lacks,
 * and that another hit of the document has, adds a part of its weight to the score.
 */
function inDocuments(hits: readonly RankedHit[], least: number): RankedHit[] {
  const documents = Map.groupBy(hits, ({ hit }) => hit.document_id)
  return [...documents.values()].flatMap((ofDocument) => {
    const [first] = ofDocument
    const weights = (first?.explanation.terms ?? []).map((_, index) =>
      Math.max(...ofDocument.map(({ explanation }) => explanation.terms[index]?.weight ?? 0)),
    )
    return weights.filter((weight) => weight > 0).length < least
      ? []
      : ofDocument.map((hit) => withOthers(hit, weights))
  })
}

function withOthers(hit: RankedHit, weights: readonly number[]): RankedHit {
  const terms = hit.explanation.terms.map((term, index) =>
    term.occurrences > 0 ? term : { ...term, weight: rounded((weights[index] ?? 0) * partInDocument) },
  )
  const sum = terms.reduce((all, { weight }) => all + weight, 0)
  const score = rounded(sum * fieldWeights[hit.explanation.field])
  // Only the best blocks were looked at, so a document may have more of the words.
  return { ...hit, score, explanation: { ...hit.explanation, terms, exact: false } }
}
