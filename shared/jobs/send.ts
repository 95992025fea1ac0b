import { PgBoss } from 'pg-boss'
import { type Database, foreignStatements, type Transaction } from '../database/database.ts'
import { isOutage } from '../database/outages.ts'
import type { Logger } from '../process/log.ts'
import type { Queue, RequestedJobKey } from './queues.ts'
import { requestedJobTurn } from './reads.ts'

/** pg-boss in a process. Jobs are sent through the service's connections, so that they join its transactions. */
export type Jobs = { boss: PgBoss; stop: () => Promise<void> }

/** Logs an error of the job queue; a warning while the database is out of reach, which the process logs by itself. */
export function logQueueError(log: Logger, err: unknown): void {
  log[isOutage(err) ? 'warn' : 'error']({ err }, 'job queue')
}

/** For how long pg-boss remembers the table and policy of a queue. Only a new version of the service changes them. */
export const queueCacheIntervalSeconds = 3600

/**
 * Starts the sending side of the queues, which must exist already (`installQueues`). Statements of pg-boss run on the
 * given pool, which refuses them inside a transaction. So a caller that forgets to pass its transaction as `db` gets an
 * error, not a job that survives a rollback.
 */
export async function openJobs(options: { database: Database; onError: (error: Error) => void }): Promise<Jobs> {
  const boss = new PgBoss({
    db: foreignStatements(options.database),
    migrate: false,
    supervise: false,
    schedule: false,
    useListenNotify: false,
    queueCacheIntervalSeconds,
  })
  boss.on('error', options.onError)
  await boss.start()
  // Fills pg-boss's cache of queues, since a look-up inside a transaction would need a second connection.
  await boss.getQueues()
  return { boss, stop: () => boss.stop({ graceful: false }) }
}

/**
 * The group of a job of pg-boss: its workspace. Every job has one, since `queueStates` finds jobs of dead workers by
 * pg-boss's index of groups. A worker limits how many large documents of a group it derives at a time.
 */
export function groupOf(data: object): { id: string } {
  return { id: 'workspace_id' in data ? String(data.workspace_id) : 'service' }
}

/** Enqueues a requested job in the transaction that writes its row. */
export async function enqueueRequestedJob(
  context: { tx: Transaction; jobs: Jobs },
  request: { queue: Queue<RequestedJobKey>; key: RequestedJobKey },
): Promise<void> {
  const { queue, key } = request
  const priority = await requestedJobTurn(context.tx, { queue: queue.name, workspaceId: key.workspace_id })
  const db = foreignStatements(context.tx)
  await context.jobs.boss.send(queue.name, key, { db, priority, group: groupOf(key) })
}
