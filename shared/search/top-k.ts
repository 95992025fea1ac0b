import type { Queryable } from '../database/database.ts'
import { workspaceLexeme } from './index/scopes.ts'
import { type Term, type TermQuery, within } from './matching/query.ts'
import { type Found, rankHits } from './rank.ts'
import { idf } from './ranking/bm25.ts'
import { isPlain, levelCondition, unseenScore } from './ranking/cuts.ts'
import type { Frequencies } from './ranking/frequencies.ts'
import { isAll, type Level } from './ranking/level.ts'
import { ladderOf } from './ranking/plan-tiers.ts'
import { knownShare } from './ranking/selectivity.ts'
import { matchingLimit } from './statement/candidates.ts'
import { type Condition, candidateLimit, type SearchScope } from './statement/request.ts'
import { runSearch, type SearchAnswer } from './statement/statement.ts'
import { quoteLexeme } from './text/lexemes.ts'

/** A query whose best matches are sought; `required` says how many of its terms a match must contain. */
export type Sought = Condition & {
  languages: readonly string[]
  scope: SearchScope
  terms: readonly (Term & TermQuery)[]
  required: number
  /** The lexemes of the scope, which each match carries. */
  scopes: readonly string[]
  /** How many blocks match each term at most, where that has been counted. */
  matching?: readonly number[]
  frequencies: Frequencies
  limit: number
}

/** Hits, best first, one or more beyond the limit where there are any, and the answer they came from. */
export type Ranked = { hits: Found[]; answer: SearchAnswer }

/**
 * The best matches, ranked in SQL over a bounded number of candidates and exactly in Node (search memo, ladder). While
 * matches are few, all are candidates. Of many it takes those in which a word has most impact, goes on to wider levels
 * until there are enough hits, and to narrower ones where even these are too many. What is returned comes from one
 * statement.
 */
export async function bestMatches(db: Queryable, sought: Sought): Promise<Ranked> {
  const attempt = (at: Place) => attemptOn(db, { sought, ...at })
  const { levels, first } = ladderOf({ ...sought, share: shareInScope(sought) })
  let index = first
  let above = null as Level | null
  for (;;) {
    const [level, narrower] = [levels[index] as Level, levels[index + 1]]
    let found = await attempt({ level, above: null })
    // Of a level with too many candidates not all are seen, but those of the narrower one are to be.
    if (found.truncated && above !== null) found = await attempt({ level, above })
    if (!found.enough && index > 0) {
      above = level
      index = widened(levels, { index, candidates: found.answer.candidates, limit: sought.limit })
    } else if (found.truncated && found.enough && narrower !== undefined && above === null) index += 1
    // All candidates may have been out of scope: the last look is at documents in scope only.
    else return found.truncated && !found.enough ? await attempt({ level, above, within: true }) : found
  }
}

/**
 * The next level that may hold enough, where one with so many candidates has not: words that seldom go together are as
 * seldom together on all levels. All matches, which can be very many, are looked at last.
 */
function widened(levels: readonly Level[], from: { index: number; candidates: number; limit: number }): number {
  const { index, candidates, limit } = from
  const part = Math.max(1, candidates) / (levels[index]?.size ?? 1)
  const enough = levels.slice(1, index).findLastIndex(({ size }) => size === null || size * part > limit)
  return enough < 0 ? Math.min(index - 1, 1) : enough + 1
}

/** Where to look: a level, a narrower one whose candidates are seen in any case, and whether in scope only. */
type Place = { level: Level; above: Level | null; within?: boolean }

type Attempt = Ranked & { enough: boolean; truncated: boolean }

async function attemptOn(db: Queryable, input: { sought: Sought } & Place): Promise<Attempt> {
  const { sought, level, above, within = false } = input
  const { terms, scope, limit, languages, frequencies } = sought
  const { averageLength } = frequencies
  const blocks = Math.max(frequencies.blocks, matchingLimit)
  const fetched = limit + spareHits(sought)
  const answer = await runSearch(db, {
    scope,
    ...conditionOn(sought, level),
    order: {
      by: 'score',
      terms: terms.map((term) => rankedTerm(term, sought)),
      blocks,
      averageLength,
      required: sought.required,
      first: above === null ? null : conditionOn(sought, above),
      within,
    },
    limit: fetched,
  })
  const weights = terms.map((_, index) => idf({ documents: blocks, matching: answer.matching[index] ?? 1 }))
  const relaxed = sought.required < terms.length
  const hits = await rankHits(answer.hits, { ...sought, weights, averageLength, relaxed, order: 'score' })
  const truncated = answer.candidates >= candidateLimit
  const last = hits[limit - 1]?.score ?? 0
  const unseen = unseenScore({ terms, weights, languages, averageLength, level })
  const left = answer.hits.length < fetched ? 0 : estimateLeft(answer, sought)
  const { shortened } = answer
  const exact = !truncated && !shortened && (isAll(level) || unseen < last) && (left === 0 || left < last)
  const explained = hits.map(({ explanation, ...hit }) => ({
    ...hit,
    explanation: { ...explanation, exact: exact && explanation.exact },
  }))
  return { hits: explained, answer, truncated, enough: hits.length > limit || shortened }
}

// To count the matches of a word costs as much as to rank them.
const countedMatches = 500

// Words that are common everywhere are not counted in each search.
function rankedTerm(term: Term & TermQuery, { scope, frequencies }: Sought) {
  const share = knownShare(term, frequencies)
  const matching = share === null ? null : Math.round(share * frequencies.blocks)
  return {
    tsquery: allOf([term.tsquery, narrowing(scope, frequencies)]),
    verbatim: term.verbatim,
    alternatives: term.alternatives,
    matching: (matching ?? 0) < countedMatches ? null : matching,
  }
}

function conditionOn(sought: Sought, level: Level): Condition {
  const { terms, scope, scopes, condition, remainder } = sought
  if (condition === null) return { condition, remainder }
  const workspaces = narrowing(scope, sought.frequencies)
  const onLevel = levelCondition(terms, level)
  // What is on the tier of a word contains it: of one alone, and of pairs, the index need not read the lists of all blocks
  // with a word.
  if (onLevel !== null && level.inRows) {
    return {
      condition: allOf([within(onLevel, scopes), workspaces]),
      remainder: allOf([condition, remainder]),
    }
  }
  return { condition: allOf([condition, onLevel, workspaces]), remainder }
}

/**
 * tsquery of the workspaces in scope where they hold a small part of all blocks, else null: to read the lists of all their
 * blocks, or those of very many workspaces, would cost more than to look at the rows.
 */
function narrowing(scope: SearchScope, frequencies: Frequencies): string | null {
  const { length } = scope.workspaceIds
  if (shareOf(scope, frequencies) >= (length <= 5 ? 0.5 : 0.1) || length > 100) return null
  return scope.workspaceIds.map((id) => quoteLexeme(workspaceLexeme(id))).join(' | ')
}

function allOf(parts: readonly (string | null)[]): string {
  return parts
    .filter((part) => part !== null)
    .map((part) => `(${part})`)
    .join(' & ')
}

/** The share of all blocks that is in scope. */
function shareInScope({ scope, scopes, frequencies }: Sought): number {
  const { shares, rare } = frequencies
  return Math.min(shareOf(scope, frequencies), ...scopes.map((lexeme) => shares.get(lexeme) ?? rare))
}

/** The share of all blocks that is in the workspaces in scope. */
function shareOf({ workspaceIds }: SearchScope, { shares, rare }: Frequencies): number {
  return Math.min(
    1,
    workspaceIds.reduce((sum, id) => sum + (shares.get(workspaceLexeme(id)) ?? rare), 0),
  )
}

/** The most that a candidate scores which was not fetched. */
function estimateLeft({ hits }: SearchAnswer, sought: Sought): number {
  return isCertain(sought) ? (hits.at(-1)?.estimate ?? 0) * tolerance : Number.POSITIVE_INFINITY
}

// Occurrences beyond 25 are off by up to a tenth, which at most so much of a score depends on.
const tolerance = 1.005

// Where SQL only estimates the score, or finds too much, hits beyond the limit make up for it.
function spareHits(sought: Sought): number {
  const { terms, limit } = sought
  const single = terms.every(({ alternatives }) => alternatives.every((steps) => steps.length === 1))
  if (!single) return limit + 10
  return isCertain(sought) ? 5 : 10
}

function isCertain({ terms, languages }: Pick<Sought, 'terms' | 'languages'>): boolean {
  return terms.every((term) => isPlain(term, languages))
}
