import { translationJobs } from '../shared/jobs/requested/queries.ts'
import { type JobSource, jobMoved, loadJob, recordEnd, runJob, storeJob } from '../shared/localization/jobs/run.ts'
import type { Translated } from '../shared/localization/jobs/translate.ts'
import { defineRequestedJob, type RequestedJob } from './runtime/requested-job.ts'

/** Translation jobs: a model proposes texts for units, and a person decides whether to apply them. */
const translationJob: RequestedJob<JobSource, Translated> = {
  table: translationJobs,
  load: loadJob,
  compute: runJob,
  moved: (tx, { source }) => jobMoved(tx, source),
  write: storeJob,
  ended: recordEnd,
}

/** Translates the texts of requested jobs. */
export const translator = defineRequestedJob(translationJob)
