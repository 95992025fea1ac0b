import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { workerTypes } from '../../workers/types.ts'
import { createDocument, type Site, search, until } from '../support/site.ts'
import { type Figure, ms, percentile } from './harness.ts'
import { measureStartLatencies } from './jobs.ts'

/*
 * What the service costs at rest, and how fast a job starts, behind 0, a tenth of `--writes` and all of them. The
 * writes behind are made by SQL, which is what they leave: of every twenty writes a document with twenty bodies,
 * versions, manifests and batches of changes, and of each an event and a line of the audit log. Of every hundred one
 * job failed and one waits in a dead-letter queue; completed ones leave nothing. The copies have no search index,
 * which nothing at rest looks into.
 */

type Rest = { transactions: number; statements: number; cpu: number; median: number; bytes: string }

/** Rest behind a growing history; `writes` at the most, and `seconds` of each rest. */
export async function measureHistory(
  site: Site,
  { writes = 1_000_000, seconds = 60 }: { writes?: number; seconds?: number } = {},
): Promise<Figure[]> {
  const workers = await site.work(...Object.keys(workerTypes))
  const template = await createDocument(site, 'history')
  await until(async () => (await search(site, 'history')).projection.complete)
  await site.askAsSuperuser(`ALTER SYSTEM SET log_statement = 'all'`)
  await site.askAsSuperuser('SELECT pg_reload_conf()')
  const figures: Figure[] = []
  const rests: Rest[] = []
  let behind = 0
  for (const count of [0, writes / 10, writes]) {
    await addWrites(site, { template: template.id, from: behind, to: count })
    behind = count
    const median = percentile(await measureStartLatencies(site), 50)
    await settle(site)
    const rest = { ...(await atRest(site, { pids: [site.api.pid, workers.pid], seconds })), median }
    rests.push(rest)
    figures.push(...told(count, rest))
  }
  const [first, last] = [rests[0], rests.at(-1)]
  if (first === undefined || last === undefined) return figures
  const growth = (last.cpu + 0.1) / (first.cpu + 0.1)
  const flat = { bar: 'at most 2, short rests are noise', met: growth <= 2 }
  return [...figures, { name: 'CPU at rest, all of the history to none', value: growth.toFixed(2), ...flat }]
}

function told(count: number, { transactions, statements, cpu, median, bytes }: Rest): Figure[] {
  const behind = `behind ${count.toLocaleString('en')} writes`
  return [
    {
      name: `transactions a minute at rest ${behind}`,
      value: transactions.toFixed(0),
      bar: 'at most 60',
      met: transactions <= 60,
    },
    { name: `statements a minute at rest ${behind}`, value: statements.toFixed(0) },
    { name: `CPU at rest ${behind}`, value: `${cpu.toFixed(2)} % of a core`, bar: 'under 1 %', met: cpu < 1 },
    { name: `job, transaction begun to job started, p50, ${behind}`, value: ms(median) },
    { name: `size of the queue, the events and the changes ${behind}`, value: bytes },
  ]
}

/** Adds what writes number `from` to `to` leave behind, spread over copies of a document. */
async function addWrites(site: Site, range: { template: string; from: number; to: number }): Promise<void> {
  if (range.to === range.from) return
  for (const statement of leftByWrites) await site.ask(statement(range))
  for (const table of ['pgboss.job_common', 'events', 'audit_log', 'documents', 'document_bodies', 'change_batches']) {
    await site.ask(`VACUUM ANALYZE ${table}`)
  }
}

type Range = { template: string; from: number; to: number }

const perDocument = 20

// The copies of a row of the template, with other values in some columns.
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

// Until what was begun is done and counted; autovacuum looks once a minute, and is no part of rest.
async function settle(site: Site): Promise<void> {
  await until(async () => (await site.ask(`SELECT FROM pgboss.job WHERE state = 'active'`)).length === 0)
  await site.askAsSuperuser('CHECKPOINT')
  await sleep(12_000)
}

async function atRest(site: Site, { pids, seconds }: { pids: number[]; seconds: number }) {
  const folder = join(site.env['DATA_DIR'] ?? '', 'postgres')
  const [postmaster = ''] = readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n')
  const measured = async () => ({
    transactions: Number((await site.ask(counted))[0].transactions),
    statements:
      readFileSync(join(folder, '../postgres.log'), 'utf8').match(/LOG: {2}(statement|execute)/g)?.length ?? 0,
    cpu: cpuSeconds([...pids, Number(postmaster)]),
  })
  const before = await measured()
  await sleep(seconds * 1000)
  const after = await measured()
  const [{ bytes }] = await site.ask(sizes)
  // One transaction and one statement are the question itself; a connection of its own is another transaction.
  const perMinute = (member: 'transactions' | 'statements', own: number) =>
    Math.max(0, ((after[member] - before[member] - own) / seconds) * 60)
  return {
    transactions: perMinute('transactions', 2),
    statements: perMinute('statements', 1),
    cpu: ((after.cpu - before.cpu) / seconds) * 100,
    bytes: String(bytes),
  }
}

const counted = `
  SELECT sum(xact_commit + xact_rollback) AS transactions FROM pg_stat_database WHERE datname = current_database()`
const sizes = `
  SELECT concat_ws(', ', pg_size_pretty(pg_total_relation_size('pgboss.job_common')),
    pg_size_pretty(pg_total_relation_size('events')), pg_size_pretty(pg_total_relation_size('change_batches'))) AS bytes`

/** Seconds that the processes and their children have computed, by Linux's /proc; elsewhere NaN. */
function cpuSeconds(pids: readonly number[]): number {
  if (process.platform !== 'linux') return Number.NaN
  const all = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? (ticksOf(name) ?? []) : []))
  const counted = all.filter(({ pid, parent }) => pids.includes(pid) || pids.includes(parent))
  return counted.reduce((total, { ticks }) => total + ticks, 0) / 100
}

// Of children that have ended the parent knows: a connection that was closed between two looks counts as well.
function ticksOf(name: string): { pid: number; parent: number; ticks: number } | undefined {
  try {
    const text = readFileSync(`/proc/${name}/stat`, 'utf8')
    const [, parent, , , , , , , , , , user, system, childUser, childSystem] = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number)
    const ticks = [user, system, childUser, childSystem].reduce<number>((sum, value = 0) => sum + value, 0)
    return { pid: Number(name), parent: parent ?? 0, ticks }
  } catch {
    return undefined
  }
}
