import { existsSync } from 'node:fs'
import Type from 'typebox'
import { openDatabase, sql } from '../../shared/database/database.ts'
import { row } from '../../shared/database/row.ts'
import { searchTopK } from '../../shared/search/search.ts'
import type { DocumentFilters, Search } from '../../shared/search/statement/request.ts'
import type { Site } from '../support/site.ts'
import { fts5 } from './fts5.ts'
import { type Figure, ms, percentile } from './harness.ts'
import { copyCorpus, corpus, indexCorpus, writeCorpus } from './search-corpus.ts'
import { cpuMs } from './search-cpu.ts'
import { querySets } from './search-queries.ts'

type Parameters = Pick<Search, 'blockTypes' | 'sort' | 'perDocument'> & { filters?: DocumentFilters; typed?: number }
type Asked = { site: Site; workspace: string; queries: readonly string[] }

const rounds = 2

// So many documents are written and indexed by the service. Further documents are copies of them.
const mostWritten = 2500

/**
 * Measures searches with each parameter in a corpus of `documents` documents, without the rest of `search`, and with
 * every fourth of its queries.
 */
export async function measureNarrowed(site: Site, { documents = 2000 }: { documents?: number }): Promise<Figure[]> {
  const written = Math.min(documents, mostWritten)
  await writeCorpus(site, corpus(written))
  await indexCorpus(site, written)
  const sqlite = await fts5(site)
  sqlite.close()
  if (documents > written) await copyCorpus(site, documents)
  const workspace = (await site.ask('SELECT workspace_id FROM documents LIMIT 1'))[0].workspace_id
  const queries = querySets(sqlite).flatMap((set) => set.queries)
  return measureParameters({ site, workspace, queries: queries.filter((_, index) => index % 4 === 0) })
}

/**
 * Measures the processor time of PostgreSQL for searches with each parameter, beside the same searches without it.
 * Every query is asked in turn without parameters and with each of them, so that other programs affect all alike. Linux
 * only.
 */
export async function measureParameters({ site, workspace, queries }: Asked): Promise<Figure[]> {
  if (!existsSync('/proc/self/schedstat')) return []
  const variants = await spreadDocuments(site)
  const database = await openDatabase({ url: site.url, poolSize: 1 })
  const backend = await database.oneFirst(sql.type(row(Type.Object({ pid: Type.Integer() })))`
    SELECT pg_backend_pid() AS pid`)
  const costs = new Map<string, number[]>(variants.map(([name]) => [name, []]))
  // The first rounds read pages and make the plans that the later rounds find in memory.
  for (let round = 0; round < 6 + rounds; round += 1) {
    for (const q of round < 6 ? queries.slice(0, 3) : queries) {
      for (const [name, { filters = null, typed, ...others }] of variants) {
        const scope = { workspaceIds: [workspace], locale: 'default' as const, filters }
        const asked =
          typed === undefined ? { q } : { q: q.replace(/\S+$/, (word) => word.slice(0, typed)), typing: true }
        const begun = cpuMs(backend)
        await searchTopK(database, { ...asked, scope, limit: 20, relax: true, ...others })
        if (round >= 6) costs.get(name)?.push(cpuMs(backend) - begun)
      }
    }
  }
  await database.end()
  const plain = percentile(costs.get('plain') ?? [], 95)
  return variants.slice(1).map(([name]) => {
    const own = costs.get(name) ?? []
    const p95 = percentile(own, 95)
    return {
      name: `${name}: CPU of PostgreSQL, p95 of the plain query`,
      value: `${ms(p95)} of ${ms(plain)}, ${(p95 / plain).toFixed(2)} (p50 ${ms(percentile(own, 50))})`,
      bar: 'at most 1.5',
      met: p95 <= 1.5 * plain,
    }
  })
}

/**
 * Puts half of the documents into a folder, and a hundredth into a folder below another one. A tenth gets a tag and a
 * property, and nine tenths another tag. The last changes are spread over time, and a tenth are those of another user.
 */
async function spreadDocuments(site: Site): Promise<[string, Parameters][]> {
  const folder = async (name: string, parent: object) => {
    const { body } = await site.client.post('/folders', { name, ...parent })
    return Number(body.data.id)
  }
  const half = await folder('Half', { knowledge_base_id: site.knowledgeBase })
  const outer = await folder('Outer', { knowledge_base_id: site.knowledgeBase })
  const hundredth = await folder('Inner', { parent_id: outer })
  await site.ask(`
    INSERT INTO users SELECT (jsonb_populate_record(u, '{"id": "usr_bench", "email": "bench@example.org"}')).*
    FROM users u LIMIT 1`)
  await site.ask(
    `UPDATE documents d SET
       folder_id = CASE WHEN n % 100 = 7 THEN $2::int8 WHEN n % 2 = 0 THEN $1::int8 END,
       updated_by = CASE WHEN n % 10 = 3 THEN 'usr_bench' ELSE updated_by END,
       updated_at = now() - n * interval '10 minutes',
       tags = CASE n % 10 WHEN 9 THEN '{}'::text[] WHEN 4 THEN '{bench,most}' ELSE '{most}' END,
       tag_keys = CASE n % 10 WHEN 9 THEN '{}'::text[] WHEN 4 THEN '{bench,most}' ELSE '{most}' END,
       properties = CASE WHEN n % 10 = 4 THEN '{"status": "open"}'::jsonb ELSE '{}' END
     FROM (SELECT id, row_number() OVER (ORDER BY md5(id)) AS n FROM documents) AS numbered WHERE numbered.id = d.id`,
    [half, hundredth],
  )
  await site.ask('VACUUM ANALYZE documents')
  await site.ask('VACUUM ANALYZE document_filters')
  const [{ id, half_time, recent_time }] = await site.ask(`
    SELECT min(id) AS id, (extract(epoch FROM percentile_disc(0.5) WITHIN GROUP (ORDER BY updated_at)) * 1000)::float8 AS half_time,
      (extract(epoch FROM percentile_disc(0.99) WITHIN GROUP (ORDER BY updated_at)) * 1000)::float8 AS recent_time
    FROM documents`)
  return [
    ['plain', {}],
    ['folder_id, half of the documents', { filters: { folderId: half } }],
    ['folder_id, a hundredth', { filters: { folderId: outer } }],
    ['document_id', { filters: { documentId: id } }],
    ['updated_by, a tenth', { filters: { updatedBy: 'usr_bench' } }],
    ['updated_after, half', { filters: { updatedAfter: half_time } }],
    ['updated_after, a hundredth', { filters: { updatedAfter: recent_time } }],
    ['updated_before, half', { filters: { updatedBefore: half_time } }],
    ['tag, a tenth', { filters: { metadata: { tags: ['bench'], properties: [] } } }],
    ['tag, nine tenths', { filters: { metadata: { tags: ['most'], properties: [] } } }],
    ['property, a tenth', { filters: { metadata: { tags: [], properties: [{ name: 'status', value: 'open' }] } } }],
    ['block_type=heading', { blockTypes: ['heading'] }],
    ['block_type=table', { blockTypes: ['table'] }],
    ['sort=updated_at', { sort: 'updated_at' }],
    ['group_by=document', { perDocument: 1 }],
    ['typing, four letters', { typed: 4 }],
    ['typing, two letters', { typed: 2 }],
  ]
}
