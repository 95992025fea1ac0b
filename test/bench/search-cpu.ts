import { existsSync, readFileSync } from 'node:fs'
import Type from 'typebox'
import { openDatabase, sql } from '../../shared/database/database.ts'
import { row } from '../../shared/database/row.ts'
import { searchTopK } from '../../shared/search/search.ts'
import type { Site } from '../support/site.ts'
import type { Fts5 } from './fts5.ts'
import { type Figure, ms, percentile } from './harness.ts'
import { httpClient } from './search-times.ts'

type Sought = { site: Site; sqlite: Fts5; workspace: string; set: { name: string; queries: readonly string[] } }

/**
 * Measures the processor time of a search in PostgreSQL and in SQLite, which other programs affect less than the clock
 * time. PostgreSQL's time includes parsing, planning and the hits; SQLite's includes only the ranking. Linux only.
 */
export async function measureCpu({ site, sqlite, workspace, set }: Sought): Promise<Figure[]> {
  if (!existsSync('/proc/self/schedstat')) return []
  const database = await openDatabase({ url: site.url, poolSize: 1 })
  const backend = await database.oneFirst(sql.type(row(Type.Object({ pid: Type.Integer() })))`
    SELECT pg_backend_pid() AS pid`)
  const scope = { workspaceIds: [workspace], locale: 'default' as const }
  const ours: number[] = []
  const theirs: number[] = []
  // The first search of each side reads pages that the later searches find in memory.
  for (const measured of [false, true]) {
    for (const q of set.queries) {
      const before = { backend: cpuMs(backend), self: cpuMs('self') }
      sqlite.search(q)
      if (measured) theirs.push(cpuMs('self') - before.self)
      await searchTopK(database, { q, scope, limit: 10, relax: true })
      if (measured) ours.push(cpuMs(backend) - before.backend)
    }
  }
  await database.end()
  const [postgres, fts5] = [percentile(ours, 50), percentile(theirs, 50)]
  const figure = { name: `${set.name}: CPU of PostgreSQL / FTS5, p50`, value: `${ms(postgres)} / ${ms(fts5)}` }
  return [
    set.name.endsWith('common') ? { ...figure, bar: 'not above FTS5 at 1,000,000', met: postgres <= fts5 } : figure,
    await measureApi(site, set),
  ]
}

/**
 * Measures the processor time of the API for a search of 20 hits. A read of a document is measured in turn with each
 * search. The difference is what the search itself costs: its statement, its excerpts and a longer answer.
 */
async function measureApi(site: Site, set: Sought['set']): Promise<Figure> {
  const { body } = await site.client.get('/documents?limit=1')
  const http = httpClient(site)
  const search = (q: string) => http.get(`/search/v2?limit=20&q=${encodeURIComponent(q)}`)
  const read = () => http.get(`/documents/${body.data[0].id}`)
  const [searches, reads]: [number[], number[]] = [[], []]
  // Node compiles what runs often, so the first rounds do not count.
  for (let round = 0; round < 8; round += 1) {
    for (const q of set.queries) {
      const begun = cpuMs(site.api.pid)
      await search(q)
      const between = cpuMs(site.api.pid)
      await read()
      if (round < 4) continue
      searches.push(between - begun)
      reads.push(cpuMs(site.api.pid) - between)
    }
  }
  http.close()
  const [searched, readOne] = [percentile(searches, 50), percentile(reads, 50)]
  return {
    name: `${set.name}: CPU of the API, 20 hits / read of a document, p50`,
    value: `${ms(searched)} / ${ms(readOne)}`,
    bar: 'at most 2 ms more',
    met: searched - readOne <= 2,
  }
}

/** The processor time of a process in milliseconds. */
export function cpuMs(process: number | 'self'): number {
  return Number(readFileSync(`/proc/${process}/schedstat`, 'utf8').split(' ')[0]) / 1e6
}
