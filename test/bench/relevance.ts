import { setTimeout as sleep } from 'node:timers/promises'
import { ownDocuments, packageDocuments } from '../search/relevance/corpus.ts'
import { meanOf, type Relevance, relevanceOf } from '../search/relevance/measures.ts'
import { type LabelledQuery, labelledQueries } from '../search/relevance/queries.ts'
import { documentsFound, writeCorpus } from '../search/relevance/service.ts'
import type { Site } from '../support/site.ts'
import type { Figure } from './harness.ts'
import { postgresBaseline, sqliteBaseline } from './relevance-baselines.ts'

const bars = { all: 0.95, kind: 0.85, better: 1.15 } as const

/**
 * Measures whether people find what they want: the labelled queries of test/relevance over HTTP, beside the full-text
 * searches of SQLite and of PostgreSQL on the same documents, once for the text as it was typed, and once helped by
 * prefixes and by a search for any of the words. With `misses`, also prints each query for which the service did not
 * return the wanted documents first, with the best documents of all.
 */
export async function measureRelevance(site: Site, { misses = false }: { misses?: boolean }): Promise<Figure[]> {
  const documents = [...ownDocuments(), ...packageDocuments()]
  const names = await writeCorpus(site.client, documents, { knowledge_base_id: site.knowledgeBase })
  await site.work('search')
  while (!(await site.client.get('/search/v2?q=anything')).body.data.projection.complete) await sleep(100)
  await site.ask('VACUUM ANALYZE')
  const sqlite = sqliteBaseline(documents)
  const postgres = await postgresBaseline(site, documents)
  const measured: Measured[] = []
  for (const query of labelledQueries) {
    const lists = {
      service: await documentsFound(site.client, { query, names }),
      sqlite: await sqlite.asTyped(query),
      postgres: await postgres.asTyped(query),
      helpedSqlite: await sqlite.helped(query),
      helpedPostgres: await postgres.helped(query),
    }
    const entries = systems.map((system) => [system, relevanceOf(query, lists[system])])
    const figures: Record<System, Relevance> = Object.fromEntries(entries)
    measured.push({ ...query, ...figures })
    if (misses && figures.service.ndcg < 0.999) printMiss(query, lists)
  }
  sqlite.close()
  await postgres.close()
  const kinds = [...Map.groupBy(measured, ({ kind }) => kind)]
  const [tuned, heldOut] = [false, true].map((held) => measured.filter((query) => query.heldOut === held))
  return [
    { name: 'corpus', value: `${documents.length} documents, ${measured.length} queries` },
    ...kinds.flatMap(([kind, ofKind]) => figuresOf(kind, ofKind)),
    ...figuresOf('all', measured),
    ...figuresOf('all but held out', tuned ?? []),
    ...figuresOf('all held out', heldOut ?? []),
  ]
}

const systems = ['service', 'sqlite', 'postgres', 'helpedSqlite', 'helpedPostgres'] as const
type System = (typeof systems)[number]
type Measured = LabelledQuery & Record<System, Relevance>

function figuresOf(name: string, measured: readonly Measured[]): Figure[] {
  const all = name.startsWith('all')
  const means = Object.fromEntries(systems.map((system) => [system, meanOf(measured.map((query) => query[system]))]))
  const line = (member: keyof Relevance, of: readonly System[]) =>
    of.map((system) => means[system]?.[member].toFixed(2)).join(' / ')
  const [service = 0, sqlite = 0, postgres = 0] = systems.map((system) => means[system]?.ndcg)
  const baseline = Math.max(sqlite, postgres)
  const least = all ? Math.max(bars.all, bars.better * baseline) : Math.max(bars.kind, baseline)
  const three = ['service', 'sqlite', 'postgres'] as const
  return [
    {
      name: `${name}: nDCG@10, service / FTS5 / ts_rank_cd`,
      value: line('ndcg', three),
      bar: all ? `at least ${bars.all}, ${bars.better} × both others` : `at least ${bars.kind} and both others`,
      met: service >= Math.min(least, 1) - 1e-9,
    },
    { name: `${name}: recall@20`, value: line('recall', three) },
    { name: `${name}: first page has it`, value: line('firstPage', three) },
    {
      name: `${name}: nDCG@10 with prefixes and any of the words, FTS5 / ts_rank_cd`,
      value: line('ndcg', ['helpedSqlite', 'helpedPostgres']),
    },
  ]
}

function printMiss(query: LabelledQuery, lists: Record<System, readonly string[]>): void {
  const { kind, q, grades, heldOut } = query
  const wanted = [...grades].map(([name, grade]) => `${name}:${grade}`).join(' ')
  const rows = Object.entries(lists).map(([system, list]) => `    ${system}: ${list.slice(0, 5).join(' ')}\n`)
  process.stdout.write(`${kind}${heldOut ? ', held out' : ''}: ${q} [${wanted}]\n${rows.join('')}`)
}
