import Type from 'typebox'
import { type Queryable, sql } from '../../database/database.ts'
import { row } from '../../database/row.ts'
import { usualLength } from './bm25.ts'

/** What PostgreSQL's statistics say of the index: shares of blocks, as of the last ANALYZE. */
export type Frequencies = {
  /** All blocks there are, of all workspaces. */
  blocks: number
  /** Tokens of a block on average. */
  averageLength: number
  /** The share of the most common lexemes; of the others it is at most `rare`. */
  shares: ReadonlyMap<string, number>
  rare: number
}

/**
 * The frequencies of lexemes, read again once a minute in each process. They are of all workspaces together, which only
 * words that are common everywhere are taken from: rare ones are counted in the workspaces of the search.
 */
export async function lexemeFrequencies(db: Queryable): Promise<Frequencies> {
  const known = cache.get(db)
  if (known !== undefined && known.until > performance.now()) return known.frequencies
  const frequencies = await readFrequencies(db)
  cache.set(db, { until: performance.now() + cachedMs, frequencies })
  return frequencies
}

const cachedMs = 60_000
const cache = new WeakMap<Queryable, { until: number; frequencies: Frequencies }>()

const numbers = Type.Array(Type.Number())

const FrequenciesRow = row(
  Type.Object({
    blocks: Type.Number(),
    lexemes: Type.Array(Type.String()),
    shares: numbers,
    lengths: numbers,
    length_shares: numbers,
    length_bounds: numbers,
  }),
)

// In a table that was never analysed every word is rare. Behind the shares stand the least and the greatest of them.
async function readFrequencies(db: Queryable): Promise<Frequencies> {
  const { blocks, lexemes, shares, ...lengths } = await db.one(sql.type(FrequenciesRow)`
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
    rare: shares[lexemes.length] ?? 0,
  }
}

// Statistics name the most common lengths with their shares; the others are spread evenly between the bounds.
function meanLength(lengths: { lengths: number[]; length_shares: number[]; length_bounds: number[] }): number {
  const { length_shares: shares, length_bounds: bounds } = lengths
  const common = lengths.lengths.reduce((sum, length, index) => sum + length * (shares[index] ?? 0), 0)
  const rest = Math.max(0, 1 - shares.reduce((sum, share) => sum + share, 0))
  const middles = bounds.slice(1).map((bound, index) => (bound + (bounds[index] ?? bound)) / 2)
  const others = middles.reduce((sum, middle) => sum + middle, 0) / Math.max(1, middles.length)
  if (lengths.lengths.length === 0 && middles.length === 0) return usualLength
  return Math.max(1, middles.length === 0 ? common / (1 - rest) : common + rest * others)
}
