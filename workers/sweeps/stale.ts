import { inTransaction } from '../../shared/database/database.ts'
import { scheduleAgain } from '../../shared/jobs/projections/stale.ts'
import { projections, queues } from '../../shared/jobs/queues.ts'
import { laggingDocuments, strandedJobs } from '../../shared/jobs/reads.ts'
import { requestedJobTables } from '../../shared/jobs/requested/queries.ts'
import { groupOf } from '../../shared/jobs/send.ts'
import { defineSweep } from './sweep.ts'

/** The age, in seconds, from which a stale projection or an open requested job may count as lost. */
const seconds = 60

/** The largest number of jobs of one queue that one run enqueues. */
const limit = 10_000

/**
 * Enqueues a new job for each document whose projection has been stale for more than a minute. The earlier job lies in
 * the dead-letter queue, or was lost with a queue that an operator emptied. The more jobs of a document lie in the
 * dead-letter queue, the more seldom a new job follows (`laggingDocuments`). Lost requested jobs are enqueued again
 * too. A superfluous job finds nothing to do.
 */
export const staleSweep = defineSweep({
  queue: queues.sweepStale,
  cron: '*/5 * * * *',
  async sweep({ database, jobs }) {
    let enqueued = 0
    for (const projection of projections) {
      const lagging = await laggingDocuments(database, { projection, seconds, limit })
      enqueued += lagging.length
      await inTransaction(database, (tx) => scheduleAgain({ tx, jobs }, { projection, jobs: lagging }))
    }
    for (const table of requestedJobTables) {
      const keys = await strandedJobs(database, { table, seconds, limit })
      enqueued += keys.length
      await jobs.boss.insert(
        table.queue.name,
        keys.map((data) => ({ data, group: groupOf(data) })),
      )
    }
    return enqueued
  },
})
