import bossPackage from 'pg-boss/package.json' with { type: 'json' }
import { type Database, refusedWriteWithin } from '../database/database.ts'
import { deadLetterOf, queues } from '../jobs/queues.ts'
import { migrationNames } from '../migrations/migration-files.ts'
import * as queries from './queries.ts'

/** What `/readyz` answers with (decisions 9). */
export type Readiness = {
  status: 'ok' | 'unavailable'
  checks: { database: CheckResult; migrations: CheckResult; queue: CheckResult }
}

type CheckResult = 'ok' | 'failed'

/**
 * Whether this process can serve: PostgreSQL answers and takes writes, every file of `sql/` is applied, and every queue
 * exists in a schema of pg-boss that is not older than its code. A database that does not answer within two seconds
 * counts as failed, and so does one that has refused a write within the last ten, as a full disk makes it do; newer
 * migrations than ours do not.
 */
export async function readiness(database: Database): Promise<Readiness> {
  const [reachable, migrated, queued] = await Promise.all([
    holds(async () => (await queries.takesWrites(database)) && !refusedWriteWithin(database, refusalMs)),
    holds(async () => containsAll(await queries.appliedMigrations(database), migrationNames())),
    holds(async () => {
      const [names, version] = await Promise.all([queries.queueNames(database), queries.queueSchemaVersion(database)])
      return containsAll(names, expectedQueues) && version >= bossPackage.pgboss.schema
    }),
  ])
  const status = reachable && migrated && queued ? 'ok' : 'unavailable'
  return { status, checks: { database: result(reachable), migrations: result(migrated), queue: result(queued) } }
}

/** What a process answers whose database has not been reached yet. */
export const unreached: Readiness = {
  status: 'unavailable',
  checks: { database: 'failed', migrations: 'failed', queue: 'failed' },
}

const expectedQueues = Object.values(queues).flatMap((queue) => [queue.name, deadLetterOf(queue)])
const patienceMs = 2000
const refusalMs = 10_000

// A probe asks whether it works, not why it does not: the reason is in the log of the requests that fail.
async function holds(check: () => Promise<boolean>): Promise<boolean> {
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
