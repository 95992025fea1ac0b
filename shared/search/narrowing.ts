import { LRUCache } from 'lru-cache'
import Type from 'typebox'
import { type Queryable, sql } from '../database/database.ts'
import { row } from '../database/row.ts'
import { expectedMatches, type TierQuery } from './ranking/plan-tiers.ts'
import { type IndexStatistics, sumOf } from './ranking/selectivity.ts'
import { blocksForListed, keptEstimates, listedDocuments, statisticsMs } from './ranking/tuning.ts'
import { titleTable } from './statement/matches.ts'
import type { DocumentList, Recheck, SearchScope } from './statement/request.ts'
import { documentsInScope, scopeTables, titledDocuments } from './statement/scope.ts'
import type { ScopeLexemes } from './text/lexemes.ts'
import { shareOfWorkspaces, titleInScope } from './workspaces.ts'

/** An estimate of what the filters and the titles of a search leave. */
export type Narrowing = {
  /** The list of the documents that are left, if there are few. */
  listed: DocumentList
  /** Blocks of the documents that are left. */
  blocks: number
}

/** The workspaces and scopes of a search, which the index of words knows, and the filters, which it does not know. */
export type ScopedQuery = { scope: SearchScope; scopes: ScopeLexemes; statistics: IndexStatistics }

/** A query with an estimate of what its filters leave. */
export type NarrowedQuery = ScopedQuery &
  Omit<TierQuery, 'share' | 'narrowed' | 'documentReads'> & { narrowing: Narrowing | null }

/**
 * Estimates what the filters and the required titles of a search leave; null without either. Only the plan of the
 * search depends on the estimate, so a process remembers what filters leave for as long as the statistics of the index.
 * The search itself counts the documents in scope in its own snapshot.
 */
export async function narrowingOf(db: Queryable, query: ScopedQuery & { recheck: Recheck }): Promise<Narrowing | null> {
  const { scope, recheck } = query
  const ofFilters = scope.filters ? await leftByFilters(db, query) : null
  if (recheck.title === null || ofFilters?.listed === 'scope') return ofFilters
  return counted(db, query, 'titles')
}

async function leftByFilters(db: Queryable, query: ScopedQuery & { recheck: Recheck }): Promise<Narrowing> {
  const known = estimates.get(db) ?? new LRUCache<string, Narrowing>({ max: keptEstimates, ttl: statisticsMs })
  estimates.set(db, known)
  const key = JSON.stringify(query.scope)
  const remembered = known.get(key)
  if (remembered !== undefined) return remembered
  const narrowing = await counted(db, query, 'scope')
  known.set(key, narrowing)
  return narrowing
}

async function counted(
  db: Queryable,
  query: ScopedQuery & { recheck: Recheck },
  list: 'scope' | 'titles',
): Promise<Narrowing> {
  const { scope } = query
  const recheck = { ...query.recheck, title: list === 'scope' ? null : titleInScope(query.recheck, query) }
  const columns = sql.fragment`d.node_count`
  const documents = list === 'scope' ? documentsInScope(scope, columns) : titledDocuments(scope, columns)
  const counts = await db.one(sql.type(CountRow)`
    WITH ${scopeTables(scope, { listed: false })} ${titleTable(recheck, scope)}
    counted AS (${documents} LIMIT ${listedDocuments + 1})
    SELECT count(*) AS documents, coalesce(sum(node_count), 0)::int8 AS nodes FROM counted`)
  if (counts.documents <= listedDocuments) return { listed: list, blocks: counts.documents + counts.nodes }
  // There may be hardly more documents than were counted, or as many as the workspaces hold. The geometric mean of both
  // is wrong by the smallest factor.
  const most = blocksOfLists(query)
  return { listed: null, blocks: Math.sqrt(Math.min(counts.nodes, most) * most) }
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
