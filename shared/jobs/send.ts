import { PgBoss } from 'pg-boss'
import { type Database, foreignStatements, type Transaction } from '../database/database.ts'
import { isOutage } from '../database/outages.ts'
import type { Logger } from '../process/log.ts'
import { type DocumentJob, largeOf, type Queue, type RequestedJobKey } from './queues.ts'
import { requestedJobTurn } from './reads.ts'

/**
 * pg-boss in a process that only sends jobs. Jobs are sent through the service's own connections, so that jobs join the
 * service's transactions.
 */
export type Jobs = { boss: PgBoss; stop: () => Promise<void> }

/** Logs an error of the job queue; a warning while the database is out of reach, which the process logs by itself. */
export function logQueueError(log: Logger, err: unknown): void {
  log[isOutage(err) ? 'warn' : 'error']({ err }, 'job queue')
}

/** For how long pg-boss remembers the table and policy of a queue. Only a new version of the service changes them. */
export const queueCacheIntervalSeconds = 3600

/**
 * Starts the sending side of the queues, which must exist already (`installQueues`). Without another `db`, statements
 * of pg-boss run on the given pool. Inside a transaction the pool refuses statements. So a caller that forgets to pass
 * its transaction gets an error, not a job that survives a rollback.
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
 * The group of a job of pg-boss: its workspace. pg-boss has an index of the running jobs that have a group, by which
 * `queueStates` finds jobs whose worker is dead. A worker limits how many large documents of a group it derives at a
 * time.
 */
export function groupOf(data: object): { id: string } {
  return { id: 'workspace_id' in data ? String(data.workspace_id) : 'service' }
}

/**
 * A job that derives a projection of a document. `large` says that the body of the document is large. pg-boss chooses
 * the id unless it is given.
 */
export type ProjectionJob = { id?: string; data: DocumentJob; large: boolean; priority: number }

/** Enqueues jobs of a projection in the transaction of `tx`. */
export async function sendProjectionJobs(
  context: { tx: Transaction; jobs: Jobs },
  { queue, sent, startAfter = 0 }: { queue: Queue<DocumentJob>; sent: readonly ProjectionJob[]; startAfter?: number },
): Promise<void> {
  const db = foreignStatements(context.tx)
  for (const [large, some] of Map.groupBy(sent, ({ large }) => large)) {
    const rows = some.map(({ id, data, priority }) => ({ id, data, priority, startAfter, group: groupOf(data) }))
    await context.jobs.boss.insert(large ? largeOf(queue).name : queue.name, rows, { db })
  }
}

/**
 * Enqueues a requested job in the transaction that inserts its row. The job starts at once, or when its workspace has
 * its turn; not before `startAfter` seconds.
 */
export async function enqueueRequestedJob(
  context: { tx: Transaction; jobs: Jobs },
  request: { queue: Queue<RequestedJobKey>; key: RequestedJobKey; startAfter?: number },
): Promise<void> {
  const { queue, key, startAfter = 0 } = request
  const priority = await requestedJobTurn(context.tx, { queue: queue.name, workspaceId: key.workspace_id })
  const db = foreignStatements(context.tx)
  await context.jobs.boss.send(queue.name, key, { db, priority, startAfter, group: groupOf(key) })
}
