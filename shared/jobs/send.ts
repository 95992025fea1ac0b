import { PgBoss } from 'pg-boss'
import { type Database, foreignStatements, prepared, sql, type Transaction } from '../database/database.ts'
import { isOutage } from '../database/outages.ts'
import type { Logger } from '../process/log.ts'
import type { DocumentJob, Queue, RequestedJobKey } from './queues.ts'
import { requestedJobTurn } from './requested/queries.ts'

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
 * Enqueues jobs of one projection in the transaction of a write, for tests and benches. The service calls `markStale`,
 * which enqueues by the same function of the database. The call must be the last before the commit, since writers of
 * the same document wait for each other from here on.
 *
 * * One document: after a quiet moment the job starts at once. The writes of a burst behind it become one more job,
 *   which is never put off any further, so constant writing cannot starve it.
 * * Many documents: one statement inserts all jobs and looks for no queued jobs to merge with. A superfluous job finds
 *   nothing to do.
 * * Jobs `behindOthers` are fetched when there are no other jobs, so that a bulk import of one workspace does not hold
 *   up the rest.
 *
 * @internal
 */
export async function enqueueDocuments(
  context: { tx: Transaction; jobs: Jobs },
  request: { queue: Queue<DocumentJob>; jobs: readonly (DocumentJob & { quiet: boolean })[]; behindOthers?: boolean },
): Promise<void> {
  const { queue, jobs, behindOthers = false } = request
  const [only] = jobs
  if (only === undefined) return
  const queues = jobs.map(() => queue.name)
  const workspaces = jobs.map(({ workspace_id }) => workspace_id)
  const documents = jobs.map(({ document_id }) => document_id)
  const priorities = jobs.map(() => (behindOthers ? -1 : 0))
  await context.tx.query(
    prepared(sql.unsafe`
    SELECT pgboss.enqueue_documents(${sql.array(queues, 'text')}, ${sql.array(workspaces, 'text')},
      ${sql.array(documents, 'text')}, ${sql.array(priorities, 'int4')}, ${jobs.length === 1}, ${only.quiet})`),
  )
}

/**
 * Enqueues a requested job in the transaction that inserts its row. The job starts at once, or when its workspace has
 * its turn. No two workers run the same job at a time.
 */
export async function enqueueRequestedJob(
  context: { tx: Transaction; jobs: Jobs },
  request: { queue: Queue<RequestedJobKey>; key: RequestedJobKey },
): Promise<void> {
  const { queue, key } = request
  const priority = await requestedJobTurn(context.tx, { queue: queue.name, workspaceId: key.workspace_id })
  const db = foreignStatements(context.tx)
  await context.jobs.boss.send(queue.name, key, { db, singletonKey: key.job_id, priority })
}
