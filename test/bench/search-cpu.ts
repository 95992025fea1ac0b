import { existsSync, readFileSync } from 'node:fs'
import Type from 'typebox'
import { openDatabase, sql } from '../../shared/database/database.ts'
import { row } from '../../shared/database/row.ts'
import { searchTopK } from '../../shared/search/search.ts'
import type { Fts5 } from './fts5.ts'
import { type Figure, ms, percentile } from './harness.ts'

type Sought = { url: string; sqlite: Fts5; workspace: string; set: { name: string; queries: readonly string[] } }

/**
 * Measures the processor time of a search in PostgreSQL and in SQLite, which other programs affect less than the clock
 * time. PostgreSQL's time includes parsing, planning and the hits; SQLite's includes only the ranking. Linux only.
 */
export async function measureCpu({ url, sqlite, workspace, set }: Sought): Promise<Figure[]> {
  if (!existsSync('/proc/self/schedstat')) return []
  const database = await openDatabase({ url, poolSize: 1 })
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
  ]
}

function cpuMs(process: number | 'self'): number {
  return Number(readFileSync(`/proc/${process}/schedstat`, 'utf8').split(' ')[0]) / 1e6
}
