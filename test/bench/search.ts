import { openDatabase, type Queryable, sql } from '../../shared/database.ts'
import { parseQuery, termQueries } from '../../shared/search/query.ts'
import { searchTopK } from '../../shared/search/search.ts'
import type { Site } from '../support/site.ts'
import { type Fts5, fts5 } from './fts5.ts'
import { type Figure, ms, percentile, rate } from './harness.ts'
import { corpus, indexCorpus, writeCorpus } from './search-corpus.ts'
import { measureCpu } from './search-cpu.ts'
import { measureFreshHit, measureOneBlock } from './search-indexing.ts'
import { measureQuality } from './search-quality.ts'

/** Queries of one kind. */
type QuerySet = { name: string; queries: string[] }

/** Search in a corpus of so many documents, beside SQLite and the naive statement; quality; and what indexing costs. */
export async function measureSearch(site: Site, options: { documents: number }): Promise<Figure[]> {
  const written = await writeCorpus(site, corpus(options.documents))
  const indexed = await indexCorpus(site, options.documents)
  const sqlite = await fts5(site)
  const database = await openDatabase({ url: site.url, poolSize: 8 })
  try {
    const figures: Figure[] = [
      { name: 'corpus', value: `${options.documents} documents, ${sqlite.blocks} rows` },
      { name: 'documents written over HTTP', value: `${Math.round(written)}/s` },
      {
        name: 'documents indexed by two workers',
        value: `${Math.round(indexed)}/s`,
        bar: 'at least 400/s',
        met: indexed >= 400,
      },
    ]
    const workspace = (await site.ask('SELECT workspace_id FROM documents LIMIT 1'))[0].workspace_id
    for (const set of querySets(sqlite)) {
      figures.push(...(await measureSet({ site, database, sqlite, workspace, set })))
      figures.push(...(await measureCpu({ url: site.url, sqlite, workspace, set })))
    }
    figures.push(await measurePages(site, sqlite))
    figures.push(await measureOneBlock(site), ...(await measureFreshHit(site)))
    return [...figures, ...measureQuality()]
  } finally {
    sqlite.close()
    await database.end()
  }
}

const queriesOfSet = 20

function querySets({ words, blocks }: Fts5): QuerySet[] {
  const frequent = words.toSorted(([, a], [, b]) => b - a).map(([word]) => word)
  const between = (from: number, to: number) =>
    words.filter(([, matching]) => matching >= from && matching < to).map(([word]) => word)
  const common = frequent.slice(0, queriesOfSet)
  const medium = between(blocks / 500, blocks / 100).slice(0, queriesOfSet)
  const rare = between(3, 20).slice(0, queriesOfSet)
  const pairs = (left: string[], right: string[]) => left.map((word, index) => `${word} ${right.at(index)}`)
  return [
    { name: '1 common', queries: common },
    { name: '1 medium', queries: medium },
    { name: '1 rare', queries: rare },
    { name: '2 common', queries: pairs(common, common.toReversed()).filter((_, index) => index < queriesOfSet / 2) },
    { name: 'common + medium', queries: pairs(common, medium) },
    { name: '4 words, relaxed', queries: pairs(pairs(common, medium), pairs(rare, frequent.slice(queriesOfSet))) },
  ]
}

type Bench = { site: Site; database: Queryable; sqlite: Fts5; workspace: string; set: QuerySet }

async function measureSet(bench: Bench): Promise<Figure[]> {
  const { name, queries } = bench.set
  const statements: number[] = []
  const db = timed(bench.database, statements)
  const scope = { workspaceIds: [bench.workspace], locale: 'default' as const }
  const found = (q: string) => searchTopK(db, { q, scope, limit: 10, relax: true })
  const http = async (q: string) => {
    const { status } = await bench.site.client.get(`/search/v2?limit=10&q=${encodeURIComponent(q)}`)
    if (status !== 200) throw new Error(`${status}`)
  }
  const naive = (q: string) => rankedByCoverage(bench, q)
  await times(queries, 1, found)
  statements.length = 0
  await times(queries, 1, found)
  const alone = statements.splice(0)
  const [httpAlone, theirs, plain] = [
    await times(queries, 1, http),
    await times(queries, 1, async (q) => bench.sqlite.search(q)),
    await times(queries, 1, naive),
  ]
  await times([...queries, ...queries], 8, found)
  const together = statements.splice(0)
  const httpTogether = await times([...queries, ...queries], 8, http)
  const overlap = name.startsWith('4') ? null : await overlapOf(bench, (q) => found(q).then(({ hits }) => hits))
  const p95 = percentile(together, 95)
  return [
    { name: `${name}: SQL, 1 client, p50/p95/p99`, value: spread(alone) },
    { name: `${name}: SQL, 8 clients, p50/p95/p99`, value: spread(together), bar: 'p95 under 50 ms', met: p95 < 50 },
    { name: `${name}: HTTP, 1 client`, value: spread(httpAlone) },
    { name: `${name}: HTTP, 8 clients`, value: spread(httpTogether) },
    { name: `${name}: SQLite FTS5, 1 client`, value: spread(theirs) },
    { name: `${name}: naive ts_rank_cd, 1 client`, value: spread(plain) },
    ...(overlap === null
      ? []
      : [
          {
            name: `${name}: overlap@10 with FTS5's bm25`,
            value: overlap.toFixed(2),
            bar: 'at least 0.9',
            met: overlap >= 0.9,
          },
        ]),
  ]
}

/** How many of our ten best hits score at least as the tenth of FTS5, by its own bm25. */
async function overlapOf(
  bench: Bench,
  found: (q: string) => Promise<readonly { hit: { document_id: string; ord: number } }[]>,
): Promise<number> {
  const shares: number[] = []
  for (const q of bench.set.queries) {
    const scores = bench.sqlite.scores(q)
    const tenth = [...scores.values()][9] ?? 0
    const hits = await found(q)
    if (scores.size === 0 || hits.length === 0) continue
    const among = hits.filter(({ hit }) => (scores.get(`${hit.document_id} ${hit.ord}`) ?? -1) >= tenth - 1e-6)
    shares.push(among.length / hits.length)
  }
  return shares.reduce((sum, share) => sum + share, 0) / shares.length
}

async function measurePages(site: Site, { words }: Fts5): Promise<Figure> {
  const [word = ''] = words.toSorted(([, a], [, b]) => b - a)[0] ?? []
  const pages: number[] = []
  for (let cursor = ''; pages.length < 30; ) {
    const begun = performance.now()
    const reply = await site.client.get(`/search/v2?mode=exhaustive&limit=100&q=${word}${cursor}`)
    pages.push(performance.now() - begun)
    const next = reply.body.data.page.next_cursor
    if (next === null) break
    cursor = `&cursor=${next}`
  }
  return { name: 'exhaustive, page of 100 of the commonest word, HTTP', value: spread(pages) }
}

async function rankedByCoverage({ database, workspace }: Bench, q: string): Promise<void> {
  const tsquery = termQueries(parseQuery(q), ['en', 'simple'])
    .map((term) => `(${term.tsquery})`)
    .join(' & ')
  await database.query(sql.unsafe`
    SELECT document_id, ord FROM search_blocks
    WHERE workspace_id = ${workspace} AND tsv @@ ${tsquery}::tsquery
    ORDER BY ts_rank_cd(tsv, ${tsquery}::tsquery) DESC LIMIT 10`)
}

/** A database that notes how long each search statement takes. */
function timed(database: Queryable, durations: number[]): Queryable {
  const one: Queryable['one'] = async (statement) => {
    const begun = performance.now()
    const answer = await database.one(statement)
    durations.push(performance.now() - begun)
    return answer
  }
  const { any, anyFirst, maybeOne, maybeOneFirst, oneFirst, query } = database
  return { any, anyFirst, maybeOne, maybeOneFirst, oneFirst, query, one }
}

async function times(
  queries: readonly string[],
  concurrency: number,
  run: (q: string) => Promise<unknown>,
): Promise<number[]> {
  const durations: number[] = []
  await rate({ count: queries.length, concurrency }, async (index) => {
    const begun = performance.now()
    await run(queries[index] ?? '')
    durations.push(performance.now() - begun)
  })
  return durations
}

function spread(durations: readonly number[]): string {
  return [50, 95, 99]
    .map((percent) => ms(percentile(durations, percent)).replace(' ms', ''))
    .join(' / ')
    .concat(' ms')
}
