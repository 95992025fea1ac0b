import { foreignStatements, type Transaction } from '../../database/database.ts'
import type { Jobs, Queue, RequestedJobKey } from '../queues.ts'

/**
 * Enqueues a job that somebody asked for, in the transaction that inserts its row. The job starts at once, and no two
 * workers run it at a time.
 */
export async function enqueueRequestedJob(
  context: { tx: Transaction; jobs: Jobs },
  request: { queue: Queue<RequestedJobKey>; key: RequestedJobKey },
): Promise<void> {
  const { queue, key } = request
  await context.jobs.boss.send(queue.name, key, { db: foreignStatements(context.tx), singletonKey: key.job_id })
}
