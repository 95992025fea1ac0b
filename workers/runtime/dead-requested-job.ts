import { inTransaction } from '../../shared/database/database.ts'
import type { JobOutcome } from '../../shared/jobs/metrics.ts'
import { deadLetterOf, type Queue, type RequestedJobKey } from '../../shared/jobs/queues.ts'
import { endJob, lockJob, settleAnswers } from '../../shared/jobs/requested/queries.ts'
import type { RequestedJobTable } from '../../shared/jobs/requested/tables.ts'
import { completeAttempt, defineWorker } from './job-worker.ts'
import type { RequestedJob } from './requested-job.ts'
import type { Worker } from './runtime.ts'

/**
 * Makes the worker that ends the jobs of a kind that no worker could finish, so that nobody waits for them for ever
 * (decisions B6). It runs beside the worker of the kind; how often it had to shows in its queue's job metrics.
 */
export function defineDeadRequestedJob(kind: {
  table: RequestedJobTable
  ended?: RequestedJob<never, never>['ended']
}): Worker {
  const queue: Queue<RequestedJobKey> = { name: deadLetterOf(kind.table.queue), options: {} }
  return defineWorker<RequestedJobKey>({
    queue,
    run: (runtime, job) =>
      inTransaction(runtime.database, async (tx): Promise<JobOutcome> => {
        const row = { table: kind.table, key: job.data }
        const held = await lockJob(tx, row)
        if (held?.status === 'pending' || held?.status === 'running') {
          await endJob(tx, { ...row, end: { status: 'failed', code: 'model_error' } })
        }
        await settleAnswers(tx, row)
        await kind.ended?.(tx, job.data)
        await completeAttempt(tx, { runtime, queue, job, outcome: 'dead' })
        return 'dead'
      }),
  })
}
