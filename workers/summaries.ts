import { queues, userJobTableOf } from '../shared/jobs/queues.ts'
import {
  askForSummary,
  type JobSource,
  loadJobSource,
  lockAndCompare,
  writeResult,
} from '../shared/summaries/by-model/job.ts'
import { defineDeadUserJob } from './runtime/dead-requested-job.ts'
import { defineUserJob, type UserJob } from './runtime/requested-job.ts'

/** Summaries by a model, which people ask for and pay for (decisions 2.11, B). */
export const summaryJob: UserJob<JobSource, string> = {
  table: userJobTableOf(queues.summariesModel),
  load: loadJobSource,
  compute: askForSummary,
  moved: (tx, { source }) => lockAndCompare(tx, source),
  async write(tx, { key, source, result }) {
    await writeResult(tx, { key, source, text: result })
    return { status: 'succeeded' }
  },
}

/** Part of the worker type `summaries`. */
export const summaryWriter = defineUserJob(summaryJob)

/** Part of the worker type `summaries`. */
export const deadSummaryJobs = defineDeadUserJob(summaryJob)
