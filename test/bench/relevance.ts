import { setTimeout as sleep } from 'node:timers/promises'
import { ownDocuments, packageDocuments } from '../relevance/corpus.ts'
import { meanOf, type Relevance, relevanceOf } from '../relevance/measures.ts'
import { type LabelledQuery, labelledQueries } from '../relevance/queries.ts'
import { documentsFound, writeCorpus } from '../relevance/service.ts'
import type { Site } from '../support/site.ts'
import type { Figure } from './harness.ts'
import { postgresBaseline, sqliteBaseline } from './relevance-baselines.ts'

const bars = { all: 0.95, kind: 0.85, better: 1.15 } as const

/**
 * Measures whether people find what they want: the labelled queries of test/relevance over HTTP, beside the full-text
 * searches of SQLite and of PostgreSQL on the same documents. With `misses`, also prints each query for which the
 * service did not return the wanted documents first, with the best documents of all three.
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
      sqlite: sqlite.search(query),
      postgres: await postgres.search(query),
    }
    const figures = {
      service: relevanceOf(query, lists.service),
      sqlite: relevanceOf(query, lists.sqlite),
      postgres: relevanceOf(query, lists.postgres),
    }
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

type System = 'service' | 'sqlite' | 'postgres'
type Measured = LabelledQuery & Record<System, Relevance>

function figuresOf(name: string, measured: readonly Measured[]): Figure[] {
  const all = name.startsWith('all')
  const [service, sqlite, postgres] = (['service', 'sqlite', 'postgres'] as const).map((system) =>
    meanOf(measured.map((query) => query[system])),
  ) as [Relevance, Relevance, Relevance]
  const line = (member: keyof Relevance) =>
    [service, sqlite, postgres].map((figures) => figures[member].toFixed(2)).join(' / ')
  const baseline = Math.max(sqlite.ndcg, postgres.ndcg)
  const bar = all ? bars.all : bars.kind
  const least = Math.max(bar, all ? bars.better * baseline : baseline)
  return [
    {
      name: `${name}: nDCG@10, service / FTS5 / ts_rank_cd`,
      value: line('ndcg'),
      bar: all ? `at least ${bar}, ${bars.better} × both others` : `at least ${bar} and both others`,
      met: service.ndcg >= Math.min(least, 1) - 1e-9,
    },
    { name: `${name}: recall@20`, value: line('recall') },
    { name: `${name}: first page has it`, value: line('firstPage') },
  ]
}

function printMiss(query: LabelledQuery, lists: Record<System, readonly string[]>): void {
  const { kind, q, grades, heldOut } = query
  const wanted = [...grades].map(([name, grade]) => `${name}:${grade}`).join(' ')
  const rows = Object.entries(lists).map(([system, list]) => `    ${system}: ${list.slice(0, 5).join(' ')}\n`)
  process.stdout.write(`${kind}${heldOut ? ', held out' : ''}: ${q} [${wanted}]\n${rows.join('')}`)
}
