import { projections } from '../../shared/jobs/projections/projections.ts'
import { laggingDocuments } from '../../shared/jobs/projections/queries.ts'
import { deadLetterOf, queues } from '../../shared/jobs/queues.ts'
import { strandedJobs } from '../../shared/jobs/requested/queries.ts'
import { requestedJobTables } from '../../shared/jobs/requested/tables.ts'
import { defineSweep } from './sweep.ts'

/**
 * Enqueues projections afresh that have lagged for more than a minute: those whose job is in the dead-letter queue, or
 * was lost with a queue that an operator emptied, the more seldom the oftener they ended there; and of the jobs that
 * people asked for those that were lost in the same way. A superfluous job finds nothing to do.
 */
export const staleSweep = defineSweep({
  queue: queues.sweepStale,
  cron: '*/5 * * * *',
  async sweep({ database, jobs }) {
    let enqueued = 0
    for (const { name, queue } of projections) {
      const deadLetter = deadLetterOf(queue)
      const documents = await laggingDocuments(database, { projection: name, deadLetter, seconds: 60, limit: 10_000 })
      enqueued += documents.length
      const request = documents.map((data) => ({ data, singletonKey: data.document_id }))
      if (request.length > 0) await jobs.boss.insert(queue.name, request)
    }
    for (const table of requestedJobTables) {
      const keys = await strandedJobs(database, {
        table,
        queues: [table.queue.name, deadLetterOf(table.queue)],
        seconds: 60,
        limit: 10_000,
      })
      enqueued += keys.length
      const request = keys.map((data) => ({ data, singletonKey: data.job_id }))
      if (request.length > 0) await jobs.boss.insert(table.queue.name, request)
    }
    return enqueued
  },
})
