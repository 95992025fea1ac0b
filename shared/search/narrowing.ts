import { LRUCache } from 'lru-cache'
import Type from 'typebox'
import { type Queryable, sql } from '../database/database.ts'
import { row } from '../database/row.ts'
import { expectedMatches, type TierQuery } from './ranking/plan-tiers.ts'
import { type IndexStatistics, sumOf } from './ranking/selectivity.ts'
import { blocksForListed, keptEstimates, listedDocuments, statisticsMs } from './ranking/tuning.ts'
import type { SearchScope } from './statement/request.ts'
import { documentsInScope, scopeTables } from './statement/scope.ts'
import { type ScopeLexemes, workspaceLexeme } from './text/lexemes.ts'

/** An estimate of what the filters of a search leave. */
export type Narrowing = {
  /** Whether the filters leave so few documents that a statement begins with a list of them. */
  listed: boolean
  /** Blocks of the documents that pass the filters. */
  blocks: number
}

/** The workspaces and scopes of a search, which the index of words knows, and the filters, which it does not know. */
export type ScopedQuery = { scope: SearchScope; scopes: ScopeLexemes; statistics: IndexStatistics }

/** A query with an estimate of what its filters leave. */
export type NarrowedQuery = ScopedQuery &
  Omit<TierQuery, 'share' | 'narrowed' | 'documentReads'> & { narrowing: Narrowing | null }

/**
 * Estimates what the filters of a search leave; null without filters. Only the plan of the search depends on the
 * estimate, so a process remembers it for as long as the statistics of the index. The search itself counts the documents
 * in scope in its own snapshot.
 */
export async function narrowingOf(db: Queryable, query: ScopedQuery): Promise<Narrowing | null> {
  if (!query.scope.filters) return null
  const known = estimates.get(db) ?? new LRUCache<string, Narrowing>({ max: keptEstimates, ttl: statisticsMs })
  estimates.set(db, known)
  const key = JSON.stringify(query.scope)
  const remembered = known.get(key)
  if (remembered !== undefined) return remembered
  const narrowing = await estimate(db, query)
  known.set(key, narrowing)
  return narrowing
}

async function estimate(db: Queryable, query: ScopedQuery): Promise<Narrowing> {
  const { scope } = query
  const { documents, nodes } = await db.one(sql.type(CountRow)`
    WITH ${scopeTables(scope, { listed: false })}
    counted AS (${documentsInScope(scope, sql.fragment`d.node_count`)} LIMIT ${listedDocuments + 1})
    SELECT count(*) AS documents, coalesce(sum(node_count), 0)::int8 AS nodes FROM counted`)
  if (documents <= listedDocuments) return { listed: true, blocks: documents + nodes }
  // There may be hardly more documents than were counted, or as many as the workspaces hold. The geometric mean of both
  // is wrong by the smallest factor.
  const most = blocksOfLists(query)
  return { listed: false, blocks: Math.sqrt(Math.min(nodes, most) * most) }
}

/** The query for the plan of a ranked search. */
export function tierQueryOf(query: NarrowedQuery): TierQuery {
  const blocks = blocksOfLists(query)
  const narrowed = query.narrowing === null ? 1 : Math.min(1, query.narrowing.blocks / blocks)
  const documentReads = query.narrowing?.listed ? query.narrowing.blocks / blocksForListed : Number.POSITIVE_INFINITY
  return { ...query, share: shareOfLists(query) * narrowed, narrowed, documentReads }
}

/**
 * What is read for all matches of a search: the blocks of the documents in scope, if that is less than the lists of the
 * words, and the cost of it in blocks of a list.
 */
export type Reads = { documents: boolean; cost: number }

/** Estimates what is read for all matches of a search. */
export function readsOf(query: NarrowedQuery): Reads {
  const tiers = tierQueryOf(query)
  const ofWords = expectedMatches(tiers) / tiers.narrowed
  return { documents: tiers.documentReads < ofWords, cost: Math.min(tiers.documentReads, ofWords) }
}

/** The share of all blocks that is in some workspaces. */
export function shareOfWorkspaces({ workspaceIds }: SearchScope, { shares, rarest }: IndexStatistics): number {
  return Math.min(1, sumOf(workspaceIds.map((id) => shares.get(workspaceLexeme(id)) ?? rarest)))
}

const estimates = new WeakMap<Queryable, LRUCache<string, Narrowing>>()

function blocksOfLists(query: ScopedQuery): number {
  return Math.max(1, query.statistics.blocks * shareOfLists(query))
}

/** The share of all blocks that is in the workspaces and scopes of a query, whatever filters leave of them. */
export function shareOfLists({ scope, scopes, statistics }: ScopedQuery): number {
  const { shares, rarest } = statistics
  const ofScopes = scopes.map((of) => sumOf([of].flat().map((lexeme) => shares.get(lexeme) ?? rarest)))
  return Math.min(shareOfWorkspaces(scope, statistics), ...ofScopes)
}

const CountRow = row(Type.Object({ documents: Type.Number(), nodes: Type.Number() }))
