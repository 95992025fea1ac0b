import type { Queryable } from '../database/database.ts'
import { beginningsOf, inScopes, requirement, type Term, type TermQuery } from './matching/query.ts'
import { type RankedHit, rankHits } from './rank.ts'
import { idf } from './ranking/bm25.ts'
import { type Cut, cutCondition, isBoundable, isComplete, upperBound } from './ranking/cuts.ts'
import { indexedTerms } from './ranking/indexed-terms.ts'
import { planTiers } from './ranking/plan-tiers.ts'
import { type IndexStatistics, knownSelectivity } from './ranking/selectivity.ts'
import {
  candidateLimit,
  estimatedFrom,
  estimateTolerance,
  matchingLimit,
  spareHits,
  workspaceBounds,
} from './ranking/tuning.ts'
import type { Condition, SearchScope } from './statement/request.ts'
import { runSearch, type SearchAnswer } from './statement/statement.ts'
import { quoteLexeme, workspaceLexeme } from './text/lexemes.ts'

/** A query whose best matches are to be found. */
export type TopKQuery = Condition & {
  languages: readonly string[]
  scope: SearchScope
  terms: readonly (Term & TermQuery)[]
  /** How many of the terms a match must contain. */
  minimumShouldMatch: number
  /** The scope lexemes, which each match carries. */
  scopes: readonly string[]
  /**
   * For each term an upper bound of the number of blocks that contain it, in the order of `terms`; absent unless the
   * blocks were counted.
   */
  matching?: readonly number[]
  statistics: IndexStatistics
  limit: number
}

/**
 * A list of the best hits, and the answer of the statement that found them. If there are more hits than the limit, the
 * list holds at least one of them beyond the limit.
 */
export type TopK = { hits: RankedHit[]; answer: SearchAnswer }

/**
 * Finds the best matches. PostgreSQL ranks a bounded number of blocks, the candidates, by an estimate of their score.
 * Node then ranks the best candidates exactly. While matches are few, all are candidates. Of many matches a pass reads
 * a cut, in which some term has a high impact. Wider cuts follow until there are enough hits, and narrower cuts where a
 * cut has too many candidates. All hits come from one statement.
 */
export async function topK(db: Queryable, query: TopKQuery): Promise<TopK> {
  const pass = (at: PassOptions) => runPass(db, { query, ...at })
  const { cuts, first } = planTiers({ ...query, share: shareInScope(query) })
  let index = first
  let narrower = null as Cut | null
  for (;;) {
    const [cut, next] = [cuts[index] as Cut, cuts[index + 1]]
    let found = await pass({ cut, narrower: null })
    // A pass over a cut with too many candidates sees only some of them. The next pass sees at least all candidates of
    // the narrower cut.
    if (found.truncated && narrower !== null) found = await pass({ cut, narrower })
    if (!found.enough && index > 0) {
      narrower = cut
      index = nextWiderCut(cuts, { index, candidates: found.answer.candidates, limit: query.limit })
    } else if (found.truncated && found.enough && next !== undefined && narrower === null) index += 1
    // All candidates may have been out of scope, so the last pass reads documents in scope only.
    else return found.truncated && !found.enough ? await pass({ cut, narrower, inScopeOnly: true }) : found
  }
}

/**
 * The index of the next wider cut that may hold enough matches, after a cut had `candidates`. Terms that seldom stand
 * in the same block are seldom together in any cut. So one factor corrects the estimates of all cuts. The cut of all
 * matches comes last.
 */
function nextWiderCut(cuts: readonly Cut[], from: { index: number; candidates: number; limit: number }): number {
  const { index, candidates, limit } = from
  const correction = Math.max(1, candidates) / (cuts[index]?.size ?? 1)
  const enough = cuts.slice(1, index).findLastIndex(({ size }) => size === null || size * correction > limit)
  return enough < 0 ? Math.min(index - 1, 1) : enough + 1
}

type PassOptions = {
  cut: Cut
  /**
   * A narrower cut, which an earlier pass has read. Its matches become candidates even when the wider cut has too many.
   */
  narrower: Cut | null
  inScopeOnly?: boolean
}

type Pass = TopK & {
  /** Whether there are more hits than the limit. */
  enough: boolean
  /** Whether there were more candidates than a pass ranks. */
  truncated: boolean
}

async function runPass(db: Queryable, input: { query: TopKQuery } & PassOptions): Promise<Pass> {
  const { query, cut, narrower, inScopeOnly = false } = input
  const { terms, scope, limit, languages, statistics, minimumShouldMatch } = query
  const { averageLength } = statistics
  const blocks = Math.max(statistics.blocks, matchingLimit)
  const fetched = limit + spareHitsOf(query)
  const answer = await runSearch(db, {
    scope,
    ...conditionOf(query, cut),
    order: {
      by: 'score',
      terms: terms.map((term) => rankedTerm(term, query)),
      blocks,
      averageLength,
      minimumShouldMatch,
      always: narrower === null ? null : conditionOf(query, narrower),
      inScopeOnly,
    },
    limit: fetched,
  })
  const weights = terms.map((_, index) => idf({ documents: blocks, matching: answer.matching[index] ?? 1 }))
  const hits = await rankHits(answer.hits, { terms, weights, averageLength, minimumShouldMatch, order: 'score' })
  const truncated = answer.candidates >= candidateLimit
  const last = hits[limit - 1]?.score ?? 0
  const outside = upperBound({ terms, weights, languages, averageLength, cut })
  const notFetched = answer.hits.length < fetched ? 0 : mostNotFetched(answer, query)
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
  const { terms, scope, scopes, condition, recheck, statistics, minimumShouldMatch } = query
  const workspaces = workspacesOf(scope, statistics)
  const inCut = condition === null ? null : cutCondition(terms, cut)
  if (inCut === null || !cut.recheckTerms) {
    const narrowing = { share: shareInScope(query), isNarrowed: scopes.length > 0 || workspaces !== null, statistics }
    const indexed = minimumShouldMatch < terms.length ? terms : indexedTerms(terms, { ...narrowing })
    if (indexed.length === terms.length) {
      return { condition: condition && allOf([condition, inCut, workspaces]), recheck }
    }
    const checked = terms.filter((term) => !indexed.includes(term))
    return {
      condition: allOf([requirement(indexed, scopes), inCut, workspaces]),
      recheck: allOf([...checked.map(({ tsquery }) => tsquery), recheck]),
    }
  }
  // A block in a tier of a word contains the word, so the index need not read the list of all blocks with the word.
  return { condition: allOf([inScopes(inCut, scopes), workspaces]), recheck: allOf([condition, recheck]) }
}

/**
 * The tsquery of the workspaces in scope where they hold a small part of all blocks, else null. Reading the lists of
 * large workspaces, or of very many, would cost more than checking the workspace of each row.
 */
function workspacesOf(scope: SearchScope, statistics: IndexStatistics): string | null {
  const { length } = scope.workspaceIds
  const { few, partOfFew, most, partOfMany } = workspaceBounds
  if (shareOfWorkspaces(scope, statistics) >= (length <= few ? partOfFew : partOfMany) || length > most) return null
  return scope.workspaceIds.map((id) => quoteLexeme(workspaceLexeme(id))).join(' | ')
}

function allOf(parts: readonly (string | null)[]): string {
  return parts
    .filter((part) => part !== null)
    .map((part) => `(${part})`)
    .join(' & ')
}

/** The share of all blocks that is in scope. */
function shareInScope({ scope, scopes, statistics }: TopKQuery): number {
  const { shares, rarest } = statistics
  return Math.min(shareOfWorkspaces(scope, statistics), ...scopes.map((lexeme) => shares.get(lexeme) ?? rarest))
}

function shareOfWorkspaces({ workspaceIds }: SearchScope, { shares, rarest }: IndexStatistics): number {
  return Math.min(
    1,
    workspaceIds.reduce((sum, id) => sum + (shares.get(workspaceLexeme(id)) ?? rarest), 0),
  )
}

/** The upper bound of the score of a candidate that was not fetched. */
function mostNotFetched({ hits }: SearchAnswer, query: TopKQuery): number {
  return isCertain(query) ? (hits.at(-1)?.estimate ?? 0) * estimateTolerance : Number.POSITIVE_INFINITY
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
