import { openDatabase, sql } from '../../shared/database/database.ts'
import { parseQuery } from '../../shared/search/matching/grammar.ts'
import { termQueries } from '../../shared/search/matching/query.ts'
import type { Site } from '../support/site.ts'
import { type Fts5, fts5 } from './fts5.ts'
import { type Figure, ms, percentile } from './harness.ts'
import { corpus, indexCorpus, writeCorpus } from './search-corpus.ts'
import { measureCpu } from './search-cpu.ts'
import { measureFreshHit, measureOneBlock } from './search-indexing.ts'
import { measureParameters } from './search-parameters.ts'
import { measureQuality } from './search-quality.ts'
import { type QuerySet, querySets } from './search-queries.ts'
import { httpClient, timeRequests, timeStatements, times } from './search-times.ts'

/**
 * Measures search in a corpus of `documents` documents beside SQLite and a naive statement, its growth from a fifth of
 * them, its quality, and the cost of indexing.
 */
export async function measureSearch(site: Site, { documents = 10_000 }: { documents?: number }): Promise<Figure[]> {
  const texts = corpus(documents)
  const fifth = Math.ceil(documents / 5)
  await writeCorpus(site, texts.slice(0, fifth))
  await indexCorpus(site, fifth)
  const small = await fts5(site)
  const sets = querySets(small)
  small.close()
  const before = await spreadOfAll(site, sets)
  const written = await writeCorpus(site, texts.slice(fifth))
  const indexed = await indexCorpus(site, documents - fifth)
  const after = await spreadOfAll(site, sets)
  const sqlite = await fts5(site)
  try {
    const figures: Figure[] = [
      { name: 'corpus', value: `${documents} documents, ${sqlite.blocks} rows` },
      { name: 'documents written over HTTP', value: `${Math.round(written)}/s` },
      {
        name: 'documents indexed by two workers',
        value: `${Math.round(indexed)}/s`,
        bar: 'at least 400/s',
        met: indexed >= 400,
      },
      ...[1, 8].map((clients) => growth({ documents, clients, before, after })),
    ]
    const workspace = (await site.ask('SELECT workspace_id FROM documents LIMIT 1'))[0].workspace_id
    for (const set of querySets(sqlite)) {
      figures.push(...(await measureSet({ site, sqlite, workspace, set })))
      figures.push(...(await measureCpu({ site, sqlite, workspace, set })))
    }
    figures.push(await measurePages(site, sqlite))
    figures.push(
      ...(await measureParameters({ site, workspace, queries: querySets(sqlite).flatMap((set) => set.queries) })),
    )
    figures.push(await measureOneBlock(site), ...(await measureFreshHit(site)))
    return [...figures, ...measureQuality()]
  } finally {
    sqlite.close()
  }
}

type Spreads = { [clients: number]: number[] }

/** The SQL time of every query of all sets, for one client and for eight. */
async function spreadOfAll(site: Site, sets: readonly QuerySet[]): Promise<Spreads> {
  const workspace = (await site.ask('SELECT workspace_id FROM documents LIMIT 1'))[0].workspace_id
  const queries = sets.flatMap((set) => set.queries)
  const { alone, together } = await timeStatements({ url: site.url, workspace, queries })
  return { 1: alone, 8: together }
}

function growth(input: { documents: number; clients: number; before: Spreads; after: Spreads }): Figure {
  const { documents, clients, before, after } = input
  const [small, large] = [before, after].map((spreads) => percentile(spreads[clients] ?? [], 95)) as [number, number]
  return {
    name: `all sets: SQL, ${clients} clients, p95 at ${documents / 5} and ${documents} documents`,
    value: `${ms(small)} / ${ms(large)}`,
    bar: 'at most twice',
    met: large <= 2 * small,
  }
}

type Bench = { site: Site; sqlite: Fts5; workspace: string; set: QuerySet }

async function measureSet(bench: Bench): Promise<Figure[]> {
  const { site, sqlite, workspace } = bench
  const { name, queries } = bench.set
  const { alone, together, hits } = await timeStatements({ url: site.url, workspace, queries })
  const http = httpClient(site)
  const ask = (q: string) => http.get(`/search/v2?limit=10&q=${encodeURIComponent(q)}`)
  const { overHttp, added } = await timeRequests({ url: site.url, workspace, queries, ask })
  const httpTogether = await times([...queries, ...queries], 8, ask)
  http.close()
  const theirs = await times(queries, 1, async (q) => sqlite.search(q))
  const plain = await timeNaive(bench)
  const overlap = name.startsWith('4') ? null : overlapOf(sqlite, hits)
  const p95 = percentile(together, 95)
  return [
    { name: `${name}: SQL, 1 client, p50/p95/p99`, value: spread(alone) },
    { name: `${name}: SQL, 8 clients, p50/p95/p99`, value: spread(together), bar: 'p95 under 50 ms', met: p95 < 50 },
    { name: `${name}: HTTP, 1 client`, value: spread(overHttp) },
    { name: `${name}: HTTP adds, p50`, value: ms(added), bar: 'under 5 ms', met: added < 5 },
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

/** The number of our ten best hits whose bm25 score by FTS5 is at least that of FTS5's tenth hit. */
function overlapOf(sqlite: Fts5, hitsOf: ReadonlyMap<string, readonly string[]>): number {
  const shares: number[] = []
  for (const [q, hits] of hitsOf) {
    const scores = sqlite.scores(q)
    const tenth = [...scores.values()][9] ?? 0
    if (scores.size === 0 || hits.length === 0) continue
    const among = hits.filter((hit) => (scores.get(hit) ?? -1) >= tenth - 1e-6)
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

async function timeNaive({ site, workspace, set }: Bench): Promise<number[]> {
  const database = await openDatabase({ url: site.url, poolSize: 1 })
  const durations = await times(set.queries, 1, async (q) => {
    const tsquery = termQueries(parseQuery(q), ['en', 'simple'])
      .map((term) => `(${term.tsquery})`)
      .join(' & ')
    await database.query(sql.unsafe`
      SELECT document_id, ord FROM search_blocks
      WHERE workspace_id = ${workspace} AND tsv @@ ${tsquery}::tsquery
      ORDER BY ts_rank_cd(tsv, ${tsquery}::tsquery) DESC LIMIT 10`)
  })
  await database.end()
  return durations
}

function spread(durations: readonly number[]): string {
  return [50, 95, 99]
    .map((percent) => ms(percentile(durations, percent)).replace(' ms', ''))
    .join(' / ')
    .concat(' ms')
}
