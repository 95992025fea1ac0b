import { PgBoss } from 'pg-boss'
import { type Database, foreignStatements, type Transaction } from '../database/database.ts'
import type { DocumentJob, Queue, RequestedJobKey } from './queues.ts'
import { requestedJobTurn } from './requested/queries.ts'

/** pg-boss as a process uses it that only sends jobs: on the service's own pool, so that jobs join its transactions. */
export type Jobs = { boss: PgBoss; stop: () => Promise<void> }

/** For how long pg-boss remembers the table and policy of a queue. Only a new version of the service changes them. */
export const queueCacheIntervalSeconds = 3600

/** For how long the jobs behind the first write of a burst are held back to become one job, in seconds. */
const coalescingSeconds = 0.5

/**
 * Starts the sending side of the queues, which must exist already (`installQueues`). Statements of pg-boss run on the
 * given pool. So a caller that forgets to pass its transaction gets an error, not a job that survives a rollback.
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
  // Fills the queue cache: a look-up inside a transaction would need a second connection.
  await boss.getQueues()
  return { boss, stop: () => boss.stop({ graceful: false }) }
}

/**
 * Enqueues the jobs of a projection in the write's own transaction. The call must be the last before the commit, since
 * writers of the same key wait for each other from here on.
 *
 * * One document: after a quiet moment the job starts at once. The writes of a burst behind it become one more job,
 *   which is never put off any further, so constant writing cannot starve it.
 * * Many documents: one statement inserts all jobs and looks for no queued jobs to merge with. A superfluous job finds
 *   nothing to do.
 * * Jobs `behindOthers` are fetched when there are no other jobs, so that a bulk import of one workspace does not hold
 *   up the rest.
 */
export async function enqueueDocuments(
  context: { tx: Transaction; jobs: Jobs },
  request: { queue: Queue<DocumentJob>; jobs: readonly (DocumentJob & { quiet: boolean })[]; behindOthers?: boolean },
): Promise<void> {
  const { boss } = context.jobs
  const { name } = request.queue
  const db = foreignStatements(context.tx)
  const priority = request.behindOthers ? -1 : 0
  const jobs = request.jobs.map(({ quiet: _, ...data }) => ({ data, singletonKey: data.document_id, priority }))
  const [only, ...others] = jobs
  if (only === undefined) return
  if (others.length > 0) {
    await boss.insert(name, jobs, { db })
    return
  }
  const quiet = request.jobs[0]?.quiet ?? false
  const options = { db, singletonKey: only.singletonKey }
  if (!quiet) {
    const { updated } = await boss.update(name, only.data, options)
    if (updated > 0) return
  }
  await boss.upsert(name, only.data, { ...options, priority, startAfter: quiet ? 0 : coalescingSeconds })
}

/**
 * Enqueues a requested job in the transaction that inserts its row. The job starts at once, or takes its turn
 * (`requestedJobTurn`), and no two workers run the same job at a time.
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
