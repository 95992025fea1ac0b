import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Site, until } from '../support/site.ts'
import { allProcesses, type Process } from './proc.ts'

/**
 * The cost of a service at rest: the statements of its role in a minute, and processor time in percent of a core.
 * `upkeep` is the work of PostgreSQL's own processes, mostly autovacuum.
 */
export type Rest = {
  transactions: number
  statements: number
  upkeepTransactions: number
  cpu: { processes: number; sessions: number; upkeep: number }
}

/** Makes PostgreSQL log every statement, so that `atRest` can count the statements of the service. Call it before. */
export async function logStatements(site: Site): Promise<void> {
  await configure(site, `SET log_statement = 'all'`, `SET log_line_prefix = '%u %v '`)
}

/** Waits until no job runs and the statistics are written, and up to two minutes until autovacuum has finished. */
export async function untilAtRest(site: Site): Promise<void> {
  await until(async () => (await site.ask(`SELECT FROM pgboss.job WHERE state = 'active'`)).length === 0)
  await sleep(12_000)
  await site.ask('VACUUM (ANALYZE)')
  // By default autovacuum looks for changes once a minute.
  await configure(site, `SET autovacuum_naptime = '1s'`)
  const tired = performance.now() + 120_000
  await until(async () => (await site.ask(leftToVacuum)).length === 0 || performance.now() > tired)
  await configure(site, 'RESET autovacuum_naptime')
  await site.ask('CHECKPOINT')
  await sleep(3000)
}

/** Measures for `seconds`. `pids` are the processes of the service. Processor time is NaN without Linux's /proc. */
export async function atRest(site: Site, { pids, seconds }: { pids: number[]; seconds: number }): Promise<Rest> {
  const folder = join(site.env['DATA_DIR'] ?? '', 'postgres')
  const [postmaster = ''] = readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n')
  const log = () => readFileSync(join(folder, '../postgres.log'), 'utf8')
  const before = { log: log().length, transactions: await countTransactions(site) }
  const cpu = await processorTime({ pids, postmaster: Number(postmaster), seconds })
  const lines = log()
    .slice(before.log)
    .matchAll(/^documents (\S+) LOG: {2}(?:statement|execute)/gm)
  const asked = Array.from(lines, ([, transaction]) => transaction)
  const own = new Set(asked).size
  // This query is itself a transaction, and opening its connection is another.
  const all = (await countTransactions(site)) - before.transactions - 2
  const perMinute = (count: number) => (Math.max(0, count) / seconds) * 60
  return {
    transactions: perMinute(own),
    statements: perMinute(asked.length),
    upkeepTransactions: perMinute(all - own),
    cpu,
  }
}

async function countTransactions(site: Site): Promise<number> {
  const [row] = await site.ask(`
    SELECT xact_commit + xact_rollback AS transactions FROM pg_stat_database WHERE datname = current_database()`)
  return Number(row.transactions)
}

async function configure(site: Site, ...settings: string[]): Promise<void> {
  for (const setting of settings) await site.ask(`ALTER SYSTEM ${setting}`)
  await site.ask('SELECT pg_reload_conf()')
}

// The thresholds of autovacuum, and its workers. pg_statistic is left out, since nothing ever analyses it.
const leftToVacuum = `
  SELECT FROM pg_stat_all_tables
  WHERE n_dead_tup > 50 + 0.2 * n_live_tup OR n_ins_since_vacuum > 1000 + 0.2 * n_live_tup
    OR (n_mod_since_analyze > 50 + 0.1 * n_live_tup AND schemaname <> 'pg_toast' AND relname <> 'pg_statistic')
  UNION ALL SELECT FROM pg_stat_activity WHERE backend_type = 'autovacuum worker'`

/**
 * Processor time in percent of a core, over `seconds`. PostgreSQL's processes come and go, so sessions are read twice a
 * second. All other processor time of the postmaster and its ended children is upkeep.
 */
async function processorTime(of: { pids: number[]; postmaster: number; seconds: number }): Promise<Rest['cpu']> {
  if (process.platform !== 'linux') return { processes: Number.NaN, sessions: Number.NaN, upkeep: Number.NaN }
  const counted = () =>
    allProcesses().filter(({ pid, parent }) => [...of.pids, of.postmaster].some((one) => one === pid || one === parent))
  const before = new Map(counted().map((sample) => [sample.pid, sample]))
  const sessions = new Map<number, number>()
  let last = [...before.values()]
  for (const end = performance.now() + of.seconds * 1000; performance.now() < end; await sleep(500)) {
    last = counted()
    for (const { pid, milliseconds, command } of last) {
      if (command.startsWith('postgres: documents '))
        sessions.set(pid, milliseconds - (before.get(pid)?.milliseconds ?? 0))
    }
  }
  const sum = (all: Iterable<number>) => [...all].reduce((total, time) => total + time, 0)
  const timeOf = (all: Iterable<Process>) => sum([...all].map(({ milliseconds }) => milliseconds))
  const isOurs = ({ pid }: Process) => of.pids.includes(pid)
  const processes = timeOf(last.filter(isOurs)) - timeOf([...before.values()].filter(isOurs))
  const rest = timeOf(last) - timeOf(before.values()) - processes - sum(sessions.values())
  const percent = (milliseconds: number) => milliseconds / of.seconds / 10
  return { processes: percent(processes), sessions: percent(sum(sessions.values())), upkeep: percent(rest) }
}
