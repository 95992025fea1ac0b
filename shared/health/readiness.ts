import { PgBoss } from 'pg-boss'
import bossPackage from 'pg-boss/package.json' with { type: 'json' }
import { type Database, foreignStatements, refusedWriteWithin } from '../database/database.ts'
import { allQueues } from '../jobs/queues.ts'
import { migrationNames } from '../migrations/migration-files.ts'
import * as queries from './queries.ts'

/** The answer of `/readyz`. */
export type Readiness = {
  status: 'ok' | 'unavailable'
  checks: { database: CheckResult; migrations: CheckResult; queue: CheckResult }
}

type CheckResult = 'ok' | 'failed'

const expectedQueues = allQueues().map(({ name }) => name)
const patienceMs = 2000
const refusalMs = 10_000

/**
 * Whether this process can serve. PostgreSQL must answer within two seconds and take writes. Every file of `sql/` must
 * be applied, and every queue must exist. pg-boss's schema must not be older than its code. A write that was refused
 * within the last ten seconds counts as a failure, as with a full disk. Migrations that this version does not know are
 * fine.
 */
export async function readiness(database: Database): Promise<Readiness> {
  const [reachable, migrated, queued] = await Promise.all([
    passes(async () => (await queries.takesWrites(database)) && !refusedWriteWithin(database, refusalMs)),
    passes(async () => containsAll(await queries.appliedMigrations(database), migrationNames())),
    passes(async () => {
      const boss = new PgBoss({ db: foreignStatements(database) })
      const [queues, version] = await Promise.all([boss.getQueues(), boss.schemaVersion()])
      const names = queues.map(({ name }) => name)
      return containsAll(names, expectedQueues) && (version ?? 0) >= bossPackage.pgboss.schema
    }),
  ])
  const status = reachable && migrated && queued ? 'ok' : 'unavailable'
  return { status, checks: { database: result(reachable), migrations: result(migrated), queue: result(queued) } }
}

/** The answer of a process that has not reached its database yet. */
export const unreached: Readiness = {
  status: 'unavailable',
  checks: { database: 'failed', migrations: 'failed', queue: 'failed' },
}

// A probe asks whether a check passes, not why it fails: the log of failed requests has the reason.
async function passes(check: () => Promise<boolean>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, patienceMs, false)
  })
  try {
    return await Promise.race([check(), late])
  } catch {
    return false
  } finally {
    clearTimeout(timer)
  }
}

function containsAll(found: readonly string[], expected: readonly string[]): boolean {
  return expected.every((name) => found.includes(name))
}

function result(passed: boolean): CheckResult {
  return passed ? 'ok' : 'failed'
}
