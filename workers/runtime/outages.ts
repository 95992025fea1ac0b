import type { Job, JobResult } from 'pg-boss'
import { type Database, sql } from '../../shared/database/database.ts'
import type { Queue } from '../../shared/jobs/queues.ts'

/**
 * Gives the jobs whose attempts an outage of the database has ended one retry more, so that they have as many left as
 * before, and has them tried every minute at the latest. To be called before pg-boss is told that they have failed. A job
 * that is itself too much for the database ends in the dead-letter queue after some hours.
 */
export async function excuseOutages(
  database: Database,
  ended: { queue: Queue<object>; jobs: readonly Pick<Job, 'id' | 'retryCount'>[]; results: readonly JobResult[] },
): Promise<void> {
  const excused = new Set(ended.results.filter(isOfOutage).map(({ id }) => id))
  const attempts = ended.jobs.filter(({ id }) => excused.has(id)).map(({ id, retryCount }) => [id, retryCount])
  if (attempts.length === 0) return
  await database.query(sql.unsafe`
    UPDATE pgboss.job SET retry_limit = retry_limit + 1, retry_delay_max = least(retry_delay_max, ${longestPauseSeconds})
    FROM ${sql.unnest(attempts, ['uuid', 'int4'])} AS attempt (id, retry_count)
    WHERE job.name = ${ended.queue.name} AND job.id = attempt.id AND job.retry_count = attempt.retry_count
      AND job.state = 'active' AND job.retry_limit < ${mostRetries}`)
}

const longestPauseSeconds = 60
const mostRetries = 500

function isOfOutage({ status, output }: JobResult): boolean {
  return status === 'failed' && (output as { outage?: boolean } | undefined)?.outage === true
}
