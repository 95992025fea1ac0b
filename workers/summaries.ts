import { queues } from '../shared/jobs/queues.ts'
import { requestedJobTableOf } from '../shared/jobs/requested/tables.ts'
import {
  askForSummary,
  type JobSource,
  loadJobSource,
  lockAndCompare,
  writeResult,
} from '../shared/summaries/by-model/job.ts'
import { defineDeadRequestedJob } from './runtime/dead-requested-job.ts'
import { defineRequestedJob, type RequestedJob } from './runtime/requested-job.ts'

/** Summaries by a model, which people ask for and pay for (decisions 2.11, B). */
export const summaryJob: RequestedJob<JobSource, string> = {
  table: requestedJobTableOf(queues.summariesModel),
  load: loadJobSource,
  compute: askForSummary,
  moved: (tx, { source }) => lockAndCompare(tx, source),
  async write(tx, { key, source, result }) {
    await writeResult(tx, { key, source, text: result })
    return { status: 'succeeded' }
  },
}

/** Part of the worker type `summaries`. */
export const summaryWriter = defineRequestedJob(summaryJob)

/** Part of the worker type `summaries`. */
export const deadSummaryJobs = defineDeadRequestedJob(summaryJob)
