import Type from 'typebox'
import { type Queryable, sql } from '../../database/database.ts'
import { row } from '../../database/row.ts'
import { beginningsOf, type Step, type Term } from '../matching/term.ts'
import { tierLexeme } from '../text/lexemes.ts'
import { shareOfBeginning } from './beginning-shares.ts'
import type { Tier } from './bm25.ts'
import { referenceLength, statisticsMs, unnamedPart, usualTierParts } from './tuning.ts'

/** PostgreSQL's statistics of the index as of the last ANALYZE. A share is a fraction of all blocks. */
export type IndexStatistics = {
  /** Blocks of all workspaces. */
  blocks: number
  /** Tokens of a block on average. */
  averageLength: number
  /** The shares of the most common lexemes. */
  shares: ReadonlyMap<string, number>
  /** The smallest share of a most common lexeme; every other lexeme has at most this share. */
  rarest: number
}

/**
 * The statistics of the index, which a process reads at most once a minute. The statistics cover all workspaces
 * together. Ranking uses them for words that are common everywhere, and counts rare words in the workspaces of the
 * search.
 */
export async function indexStatistics(db: Queryable): Promise<IndexStatistics> {
  const known = cache.get(db)
  if (known !== undefined && known.until > performance.now()) return known.statistics
  const statistics = await readStatistics(db)
  cache.set(db, { until: performance.now() + statisticsMs, statistics })
  return statistics
}

/**
 * The estimated share of the blocks that contain a term. Null for phrases, for identifiers that are read as several
 * words, and for words that are too rare to be known. Of the beginning of a word, and of words of which one suffices,
 * the shares of all words are summed up.
 */
export function knownSelectivity(term: Term, statistics: IndexStatistics): number | null {
  const { alternatives } = term
  const isBeginning = beginningsOf(term).length > 0
  if (!isBeginning && alternatives.some(({ length }) => length !== 1)) return null
  const known = alternatives.map((steps) => Math.min(1, ...steps.map((step) => knownShare(step, statistics))))
  return (isBeginning ? Math.max(...known) : Math.min(1, sumOf(known))) || null
}

/** The share of the blocks that contain a term; likely too high where the statistics do not name the term. */
export function termSelectivity(term: Term, statistics: IndexStatistics): number {
  return Math.max(0, ...term.alternatives.map((steps) => stepsShare(steps, statistics)))
}

/**
 * The share of the blocks in which a term is in a tier. `share` is the share of the blocks that contain the term, which
 * is also the share of tier 0.
 */
export function tierSelectivity(tier: Tier, of: { term: Term; share: number; statistics: IndexStatistics }): number {
  const { term, share, statistics } = of
  return tier === 0 ? share : Math.min(share, tierShare(term, { tier, statistics }))
}

/**
 * The estimated share of the blocks that contain all terms, and at least one of the terms in its tier. `shares` has for
 * each term the share of the blocks that contain the term. `inTiers` has for each term the share of the blocks that
 * contain the term in its tier. Assumes that terms are independent.
 */
export function conjunctionSelectivity(inTiers: readonly number[], shares: readonly number[]): number {
  const all = shares.reduce((product, share) => product * share, 1)
  const inOne = sumOf(inTiers.map((inTier, index) => inTier / (shares[index] || 1)))
  return all * Math.min(1, inOne)
}

/** An upper estimate of the share of the blocks that contain at least two of the terms with the given shares. */
export function pairSelectivity(shares: readonly number[]): number {
  return shares.reduce((sum, share, index) => sum + share * sumOf(shares.slice(index + 1)), 0)
}

/** The sum of numbers; 0 of none. */
export function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0)
}

const cache = new WeakMap<Queryable, { until: number; statistics: IndexStatistics }>()

const numbers = Type.Array(Type.Number())

const StatisticsRow = row(
  Type.Object({
    blocks: Type.Number(),
    lexemes: Type.Array(Type.String()),
    shares: numbers,
    lengths: numbers,
    length_shares: numbers,
    length_bounds: numbers,
  }),
)

// Reads the statistics. Without them, in a table that was never analysed, every word counts as rare. PostgreSQL's list
// of shares has two more numbers at its end: the smallest and the greatest share of a lexeme.
async function readStatistics(db: Queryable): Promise<IndexStatistics> {
  const { blocks, lexemes, shares, ...lengths } = await db.one(sql.type(StatisticsRow)`
    SELECT greatest(c.reltuples, 0)::float8 AS blocks,
      coalesce(s.most_common_elems::text::text[], '{}') AS lexemes,
      coalesce(s.most_common_elem_freqs::float8[], '{}') AS shares,
      coalesce(l.most_common_vals::text::float8[], '{}') AS lengths,
      coalesce(l.most_common_freqs::float8[], '{}') AS length_shares,
      coalesce(l.histogram_bounds::text::float8[], '{}') AS length_bounds
    FROM pg_class c
    LEFT JOIN pg_stats s ON s.schemaname = c.relnamespace::regnamespace::text AND s.tablename = c.relname
      AND s.attname = 'tsv'
    LEFT JOIN pg_stats l ON l.schemaname = c.relnamespace::regnamespace::text AND l.tablename = c.relname
      AND l.attname = 'length'
    WHERE c.oid = 'search_blocks'::regclass`)
  return {
    blocks,
    averageLength: meanLength(lengths),
    shares: new Map(lexemes.map((lexeme, index) => [lexeme, shares[index] ?? 0])),
    rarest: shares[lexemes.length] ?? 0,
  }
}

// Statistics name the most common lengths with their shares. The other lengths are spread evenly between the bounds.
function meanLength(lengths: { lengths: number[]; length_shares: number[]; length_bounds: number[] }): number {
  const { length_shares: shares, length_bounds: bounds } = lengths
  const common = lengths.lengths.reduce((sum, length, index) => sum + length * (shares[index] ?? 0), 0)
  const rest = Math.max(0, 1 - shares.reduce((sum, share) => sum + share, 0))
  const middles = bounds.slice(1).map((bound, index) => (bound + (bounds[index] ?? bound)) / 2)
  const others = middles.reduce((sum, middle) => sum + middle, 0) / Math.max(1, middles.length)
  if (lengths.lengths.length === 0 && middles.length === 0) return referenceLength
  return Math.max(1, middles.length === 0 ? common / (1 - rest) : common + rest * others)
}

function tierShare(term: Term, { tier, statistics }: { tier: number; statistics: IndexStatistics }): number {
  const inTier = term.alternatives.map((steps) =>
    Math.min(1, ...steps.map((step) => stepTierShare(step, { tier, statistics }))),
  )
  return Math.max(0, ...inTier)
}

function stepTierShare(
  { lexemes, prefix }: Step,
  { tier, statistics }: { tier: number; statistics: IndexStatistics },
): number {
  const { rarest } = statistics
  const usual = usualTierParts[tier - 1] ?? 0
  const inTier = lexemes.map((lexeme) => {
    const share = lexemeShare({ lexeme, prefix }, statistics) || rarest * unnamedPart
    return lexemeShare({ lexeme: tierLexeme(tier, lexeme), prefix }, statistics) || Math.min(rarest, share * usual)
  })
  return Math.max(...inTier)
}

function stepsShare(steps: readonly Step[], statistics: IndexStatistics): number {
  const shareOf = (step: Step) => knownShare(step, statistics) || statistics.rarest * unnamedPart
  return Math.min(1, ...steps.map(shareOf))
}

function knownShare({ lexemes, prefix }: Step, statistics: IndexStatistics): number {
  return Math.max(...lexemes.map((lexeme) => lexemeShare({ lexeme, prefix }, statistics)))
}

function lexemeShare({ lexeme, prefix }: { lexeme: string; prefix: boolean }, { shares }: IndexStatistics): number {
  return prefix ? shareOfBeginning(lexeme, shares) : (shares.get(lexeme) ?? 0)
}
