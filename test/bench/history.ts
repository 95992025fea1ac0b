import { workerTypes } from '../../workers/types.ts'
import { createDocument, type Site, search, until } from '../support/site.ts'
import { type Figure, ms, percentile } from './harness.ts'
import { measureStartLatencies } from './jobs.ts'
import { atRest, logStatements, type Rest, untilAtRest } from './rest.ts'

/*
 * Measures the cost of the service at rest, and how fast a job starts, after 0 writes, a tenth of `--writes` and all of
 * them. SQL makes the rows that such writes leave behind: for twenty writes a document with twenty bodies, versions,
 * manifests and change batches, and for each write an event and a line of the audit log. Of a hundred jobs one failed
 * and one waits in a dead-letter queue; completed jobs leave nothing. The copies have no search index, which nothing
 * reads at rest. Autovacuum has finished before each measurement, and is counted apart from the service.
 */

/** Measures the service at rest, for `seconds` each time, with a history that grows up to `writes` writes. */
export async function measureHistory(
  site: Site,
  { writes = 1_000_000, seconds = 60 }: { writes?: number; seconds?: number } = {},
): Promise<Figure[]> {
  const workers = await site.work(...Object.keys(workerTypes))
  const template = await createDocument(site, 'history')
  await until(async () => (await search(site, 'history')).projection.complete)
  await logStatements(site)
  const figures: Figure[] = []
  const totals: number[] = []
  let behind = 0
  for (const count of [0, writes / 10, writes]) {
    await addWrites(site, { template: template.id, from: behind, to: count })
    behind = count
    const median = percentile(await measureStartLatencies(site), 50)
    await untilAtRest(site)
    const rest = await atRest(site, { pids: [site.api.pid, workers.pid], seconds })
    const [{ bytes }] = await site.ask(sizes)
    totals.push(totalOf(rest))
    figures.push(...told(count, { ...rest, median, bytes: String(bytes) }))
  }
  const growth = ((totals.at(-1) ?? 0) + 0.1) / ((totals[0] ?? 0) + 0.1)
  const flat = { bar: 'at most 2, short rests are noise', met: growth <= 2 }
  return [...figures, { name: 'CPU at rest, all of the history to none', value: growth.toFixed(2), ...flat }]
}

function told(count: number, rest: Rest & { median: number; bytes: string }): Figure[] {
  const { transactions, statements, upkeepTransactions, cpu, median, bytes } = rest
  const behind = `behind ${count.toLocaleString('en')} writes`
  const parts = [`${percent(cpu.processes)} API and workers`, `${percent(cpu.sessions)} their sessions`]
  return [
    {
      name: `transactions a minute at rest ${behind}`,
      value: transactions.toFixed(0),
      bar: 'at most 60',
      met: transactions <= 60,
    },
    { name: `statements a minute at rest ${behind}`, value: statements.toFixed(0) },
    { name: `other transactions a minute, of autovacuum above all, ${behind}`, value: upkeepTransactions.toFixed(0) },
    {
      name: `CPU at rest ${behind}`,
      value: `${percent(totalOf(rest))} of a core`,
      bar: 'under 1 %',
      met: totalOf(rest) < 1,
    },
    { name: `of that ${behind}`, value: `${parts.join(', ')}, ${percent(cpu.upkeep)} PostgreSQL's upkeep` },
    { name: `job, transaction begun to job started, p50, ${behind}`, value: ms(median) },
    { name: `size of the queue, the events and the changes ${behind}`, value: bytes },
  ]
}

function totalOf({ cpu }: Rest): number {
  return cpu.processes + cpu.sessions + cpu.upkeep
}

function percent(value: number): string {
  return `${value.toFixed(2)} %`
}

/** Adds the rows of the writes number `from` to `to`, spread over copies of a document. */
async function addWrites(site: Site, range: { template: string; from: number; to: number }): Promise<void> {
  if (range.to === range.from) return
  for (const statement of leftByWrites) await site.ask(statement(range))
  for (const table of ['pgboss.job_common', 'events', 'audit_log', 'documents', 'document_bodies', 'change_batches']) {
    await site.ask(`VACUUM ANALYZE ${table}`)
  }
}

type Range = { template: string; from: number; to: number }

const perDocument = 20

// The copies of a row of the template, with new values in some columns.
const copies = (table: string, values: string) => (range: Range) =>
  `
  INSERT INTO ${table} SELECT (jsonb_populate_record(source, jsonb_build_object(${values}))).*
  FROM ${table} AS source,
    generate_series(${range.from / perDocument + 1}::bigint, ${range.to / perDocument}::bigint) AS copy
    ${values.includes('body_seq') ? `, generate_series(1, ${perDocument}) AS turn` : ''}
  WHERE ${table === 'documents' || table === 'document_directory' ? 'source.id' : 'source.document_id'} = '${range.template}'`

const id = `'doc_history_' || copy`

const leftByWrites = [
  copies('document_directory', `'id', ${id}`),
  copies('documents', `'id', ${id}`),
  copies('document_bodies', `'document_id', ${id}, 'body_seq', turn`),
  copies('document_versions', `'document_id', ${id}, 'seq', turn, 'body_seq', turn`),
  copies('document_manifests', `'document_id', ${id}, 'body_seq', turn`),
  copies('change_chains', `'document_id', ${id}`),
  ({ template, from, to }: Range) => `
    INSERT INTO change_batches (workspace_id, document_id, body_seq, source_version, changed_at, changes)
    SELECT workspace_id, ${id}, turn, version, now(), '[{"type": "block.updated"}]'
    FROM documents, generate_series(${from / perDocument + 1}::bigint, ${to / perDocument}::bigint) AS copy,
      generate_series(1, ${perDocument}) AS turn
    WHERE documents.id = '${template}'`,
  ({ template, from, to }: Range) => `
    INSERT INTO events (workspace_id, event_id, name, document_id, document)
    SELECT workspace_id, nextval('event_id_seq'), 'document.updated', id, '{}'
    FROM documents, generate_series(${from} + 1, ${to}) WHERE documents.id = '${template}'`,
  ({ from, to }: Range) => `
    INSERT INTO audit_log (request_id, token_id, user_id, method, path, is_agent)
    SELECT 'history ' || n, 'tok', 'usr', 'PATCH', '/documents/x', false FROM generate_series(${from} + 1, ${to}) n`,
  ({ from, to }: Range) => `
    INSERT INTO pgboss.job (name, state, policy, data, singleton_key, deletion_seconds, started_on, completed_on)
    SELECT 'search.index', 'failed', 'singleton', '{}', 'history ' || n, 3600, now(), now()
    FROM generate_series(${from} / 100 + 1, ${to} / 100) n`,
  ({ from, to }: Range) => `
    INSERT INTO pgboss.job (name, policy, data, singleton_key, source_name)
    SELECT 'search.index.dead', 'standard', '{}', 'history ' || n, 'search.index'
    FROM generate_series(${from} / 100 + 1, ${to} / 100) n`,
] as const

const sizes = `
  SELECT concat_ws(', ', pg_size_pretty(pg_total_relation_size('pgboss.job_common')),
    pg_size_pretty(pg_total_relation_size('events')), pg_size_pretty(pg_total_relation_size('change_batches'))) AS bytes`
