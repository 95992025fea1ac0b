import { laggingDocuments } from '../../shared/jobs/projections/queries.ts'
import { deadLetterOf, projections, queues } from '../../shared/jobs/queues.ts'
import { strandedJobs } from '../../shared/jobs/requested/queries.ts'
import { requestedJobTables } from '../../shared/jobs/requested/tables.ts'
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
    for (const { name, queue } of projections) {
      const deadLetter = deadLetterOf(queue)
      const documents = await laggingDocuments(database, { projection: name, deadLetter, seconds, limit })
      enqueued += documents.length
      const request = documents.map((data) => ({ data, singletonKey: data.document_id }))
      if (request.length > 0) await jobs.boss.insert(queue.name, request)
    }
    for (const table of requestedJobTables) {
      const keys = await strandedJobs(database, {
        table,
        queues: [table.queue.name, deadLetterOf(table.queue)],
        seconds,
        limit,
      })
      enqueued += keys.length
      const request = keys.map((data) => ({ data, singletonKey: data.job_id }))
      if (request.length > 0) await jobs.boss.insert(table.queue.name, request)
    }
    return enqueued
  },
})
