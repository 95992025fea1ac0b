import { queues, userJobTableOf } from '../shared/jobs/queues.ts'
import {
  askForSummary,
  loadJobSource,
  lockAndCompare,
  type SummaryJobSource,
  writeModelSummary,
} from '../shared/summaries/by-model/job.ts'
import { defineDeadUserJob } from './runtime/dead-user-job.ts'
import { defineUserJob, type UserJob } from './runtime/user-job.ts'

/** Summaries by a model, which people ask for and pay for (decisions 2.11, B). */
export const summaryJob: UserJob<SummaryJobSource, string> = {
  table: userJobTableOf(queues.summariesModel),
  load: loadJobSource,
  compute: askForSummary,
  moved: (tx, { source }) => lockAndCompare(tx, source),
  async write(tx, { key, source, result }) {
    await writeModelSummary(tx, { key, source, text: result })
    return { status: 'succeeded' }
  },
}

/** Part of the worker type `summaries`. */
export const summaryWriter = defineUserJob(summaryJob)

/** Part of the worker type `summaries`. */
export const deadSummaryJobs = defineDeadUserJob(summaryJob)
