import Type from 'typebox'
import { type Queryable, sql } from '../database.ts'
import { row } from '../row.ts'

/** What PostgreSQL's statistics say of the index: shares of blocks, as of the last ANALYZE. */
export type Frequencies = {
  /** All blocks there are, of all workspaces. */
  blocks: number
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

const FrequenciesRow = row(
  Type.Object({ blocks: Type.Number(), lexemes: Type.Array(Type.String()), shares: Type.Array(Type.Number()) }),
)

// In a table that was never analysed every word is rare. Behind the shares stand the least and the greatest of them.
async function readFrequencies(db: Queryable): Promise<Frequencies> {
  const { blocks, lexemes, shares } = await db.one(sql.type(FrequenciesRow)`
    SELECT greatest(c.reltuples, 0)::float8 AS blocks,
      coalesce(s.most_common_elems::text::text[], '{}') AS lexemes,
      coalesce(s.most_common_elem_freqs::float8[], '{}') AS shares
    FROM pg_class c
    LEFT JOIN pg_stats s ON s.schemaname = c.relnamespace::regnamespace::text AND s.tablename = c.relname
      AND s.attname = 'tsv'
    WHERE c.oid = 'search_blocks'::regclass`)
  return {
    blocks,
    shares: new Map(lexemes.map((lexeme, index) => [lexeme, shares[index] ?? 0])),
    rare: shares[lexemes.length] ?? 0,
  }
}
