import type { Queryable } from '../database/database.ts'
import { bestOfDocuments } from './groups.ts'
import { type ExcludedTerms, inScopes, requirement, type TermQuery } from './matching/query.ts'
import { beginningsOf, type Term } from './matching/term.ts'
import { type Narrowing, shareOfLists } from './narrowing.ts'
import { type HitOrder, type RankedHit, rankHits } from './rank.ts'
import { idf } from './ranking/bm25.ts'
import { type Cut, completeCut, cutCondition, isBoundable, isComplete, upperBound } from './ranking/cuts.ts'
import { indexedTerms } from './ranking/indexed-terms.ts'
import { type IndexStatistics, knownSelectivity } from './ranking/selectivity.ts'
import { candidateLimit, estimatedFrom, estimateTolerance, matchingLimit, spareHits } from './ranking/tuning.ts'
import type { CandidateSource, Condition, PerDocument, Recheck, Search, SearchScope } from './statement/request.ts'
import { runSearch, type SearchAnswer } from './statement/statement.ts'
import type { ScopeLexemes } from './text/lexemes.ts'
import { allOf, titleInScope, workspacesOf } from './workspaces.ts'

/** A query whose best matches are to be found. */
export type TopKQuery = Condition & {
  languages: readonly string[]
  scope: SearchScope
  terms: readonly (Term & TermQuery)[]
  /** How many of the terms a match must contain. */
  minimumShouldMatch: number
  /** What a match and the title of its document must not contain. */
  excluded: ExcludedTerms
  /** What is checked of every match, whichever terms it contains. */
  always: Recheck
  /** The scopes, in all of which each match is. */
  scopes: ScopeLexemes
  /**
   * For each term an upper bound of the number of blocks that contain it, in the order of `terms`; absent unless the
   * blocks were counted.
   */
  matching?: readonly number[]
  statistics: IndexStatistics
  limit: number
  /** What filters leave; null without filters. */
  narrowing: Narrowing | null
  /** Whether half of the terms suffice if no block has all of them. Then the caller searches once more. */
  relaxable?: boolean
  /** The number of documents in scope, if a search in the same snapshot has counted them. */
  documentCount?: number
  sort?: Search['sort']
  perDocument?: Search['perDocument']
}

/**
 * A list of the best hits, and the answer of the statement that found them. If there are more hits than the limit, the
 * list holds at least one of them beyond the limit.
 */
export type TopK = { hits: RankedHit[]; answer: SearchAnswer }

/** What one pass of a ranked search reads. */
export type PassOptions = {
  cut: Cut
  read: CandidateSource
  /**
   * A narrower cut, which an earlier pass has read. Its matches become candidates even when the wider cut has too many.
   */
  narrower: Cut | null
  inScopeOnly?: boolean
}

/** The result of one pass. */
export type Pass = TopK & {
  /** Whether there are more hits than the limit. */
  enough: boolean
  /** Whether there were more candidates than a pass ranks. */
  truncated: boolean
}

/** Runs one statement of a ranked search, and ranks the fetched hits exactly. */
export async function runPass(db: Queryable, input: { query: TopKQuery } & PassOptions): Promise<Pass> {
  const { query, cut, read, narrower, inScopeOnly = false } = input
  const { terms, excluded, scope, limit, languages, statistics, minimumShouldMatch, narrowing } = query
  const { averageLength } = statistics
  const blocks = Math.max(statistics.blocks, matchingLimit)
  const perDocument = perDocumentOf(query)
  const fetched = fetchedHits(query, perDocument)
  const answer = await runSearch(db, {
    scope,
    listed: narrowing?.listed ?? null,
    countedFrom: leastHitsOfAnswer(query, { cut, read, inScopeOnly }),
    documentCount: query.documentCount ?? null,
    ...conditionOf(query, cut),
    order: {
      by: 'score',
      terms: terms.map((term) => rankedTerm(term, query)),
      blocks,
      averageLength,
      minimumShouldMatch,
      always: narrower === null ? null : conditionOf(query, narrower),
      inScopeOnly,
      read,
      perDocument,
    },
    limit: fetched,
  })
  const weights = terms.map((_, index) => idf({ documents: blocks, matching: answer.matching[index] ?? 1 }))
  const order: HitOrder = typeof read === 'object' ? 'updated_at' : 'score'
  const ranked = await rankHits(answer.hits, { terms, excluded, weights, averageLength, minimumShouldMatch, order })
  const hits = query.perDocument === undefined ? ranked : bestOfDocuments(ranked, query.perDocument)
  const truncated = answer.candidates >= candidateLimit
  const last = hits[limit - 1]?.score ?? 0
  const outside = upperBound({ terms, weights, languages, averageLength, cut })
  // The hits that were not fetched are older, or score less than the fetched hits.
  const notFetched = answer.hits.length < fetched || order === 'updated_at' ? 0 : mostNotFetched(answer, query)
  const { shortened } = answer
  const exact =
    !truncated && !shortened && (isComplete(cut) || outside < last) && (notFetched === 0 || notFetched < last)
  const explained = hits.map(({ explanation, ...hit }) => ({
    ...hit,
    explanation: { ...explanation, exact: exact && explanation.exact },
  }))
  return { hits: explained, answer, truncated, enough: hits.length > limit || shortened }
}

// Words that are common everywhere are not counted in each search, since the statistics say how frequent they are.
function rankedTerm(term: Term & TermQuery, { scope, statistics }: TopKQuery) {
  const share = knownSelectivity(term, statistics)
  const matching = share === null ? null : Math.round(share * statistics.blocks)
  return {
    tsquery: allOf([term.tsquery, workspacesOf(scope, statistics)]),
    verbatim: term.verbatim,
    wholeWords: term.wholeWords,
    alternatives: term.wholeWords === null ? term.alternatives : beginningsOf(term),
    matching: (matching ?? 0) < estimatedFrom ? null : matching,
  }
}

function conditionOf(query: TopKQuery, cut: Cut): Condition {
  const { terms, scope, scopes, condition, statistics, minimumShouldMatch } = query
  const workspaces = workspacesOf(scope, statistics)
  const recheck = { ...query.recheck, title: titleInScope(query.recheck, query) }
  const inCut = condition === null ? null : cutCondition(terms, cut)
  if (inCut === null || !cut.recheckTerms) {
    const isNarrowed = scopes.length > 0 || workspaces !== null
    const narrowing = { share: shareOfLists(query), isNarrowed, statistics }
    const indexed = minimumShouldMatch < terms.length ? terms : indexedTerms(terms, narrowing)
    if (indexed.length === terms.length) {
      return { condition: condition && allOf([condition, inCut, workspaces]), recheck }
    }
    const checked = terms.filter((term) => !indexed.includes(term))
    return {
      condition: allOf([requirement(indexed, scopes), inCut, workspaces]),
      recheck: { ...recheck, tsquery: allOf([...checked.map(({ tsquery }) => tsquery), recheck.tsquery]) },
    }
  }
  // A block in a tier of a word contains the word, so the index need not read the list of all blocks with the word.
  return {
    condition: allOf([inScopes(inCut, scopes), workspaces]),
    recheck: { ...recheck, tsquery: allOf([condition, recheck.tsquery]) },
  }
}

/** The upper bound of the score of a candidate that was not fetched. */
function mostNotFetched({ hits }: SearchAnswer, query: TopKQuery): number {
  return isCertain(query) ? (hits.at(-1)?.estimate ?? 0) * estimateTolerance : Number.POSITIVE_INFINITY
}

// Node may rank the hits of a document in another order than PostgreSQL, so more hits of each document are fetched than
// are returned.
function perDocumentOf(query: TopKQuery): PerDocument | null {
  if (query.perDocument === undefined) return null
  const spare = isCertain(query) ? spareHits.certainOfDocument : spareHits.estimatedOfDocument
  return { fetched: query.perDocument + spare, matches: conditionOf(query, completeCut(query.terms)) }
}

function fetchedHits(query: TopKQuery, perDocument: PerDocument | null): number {
  const hits = query.limit + spareHitsOf(query)
  if (perDocument === null || query.perDocument === undefined) return hits
  return Math.ceil((hits * perDocument.fetched) / query.perDocument)
}

// The answer of a pass over a part of the matches is the last if it has enough hits. An answer without hits is not the
// last where half of the terms may suffice.
function leastHitsOfAnswer(query: TopKQuery, { cut, read, inScopeOnly }: Omit<PassOptions, 'narrower'>): number {
  const ofAll = isComplete(cut) && !(typeof read === 'object' && read.newest === 'window')
  if (!ofAll && inScopeOnly !== true) return query.limit + 1
  return query.relaxable ? 1 : 0
}

/** The number of hits to fetch beyond the limit, in place of hits that PostgreSQL ranks too high or finds in error. */
function spareHitsOf(query: TopKQuery): number {
  const single = query.terms.every(({ alternatives }) => alternatives.every((steps) => steps.length === 1))
  if (!single) return query.limit + spareHits.phrases
  return isCertain(query) ? spareHits.certain : spareHits.estimated
}

/** Whether PostgreSQL never estimates a score too low. */
function isCertain({ terms, languages }: TopKQuery): boolean {
  return terms.every((term) => isBoundable(term, languages))
}
