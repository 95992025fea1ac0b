import { type RequestedJobTable, requestedJobTables } from '../shared/jobs/requested/tables.ts'
import { type JobSource, jobMoved, loadJob, recordEnd, runJob, storeJob } from '../shared/localization/jobs/run.ts'
import type { Translated } from '../shared/localization/jobs/translate.ts'
import { defineDeadRequestedJob } from './runtime/dead-requested-job.ts'
import { defineRequestedJob, type RequestedJob } from './runtime/requested-job.ts'

// Translation jobs make machine candidates for units. A person decides whether to apply them.
const translationJob: RequestedJob<JobSource, Translated> = {
  table: requestedJobTables.find(({ name }) => name === 'translation_jobs') as RequestedJobTable,
  load: loadJob,
  compute: runJob,
  moved: (tx, { source }) => jobMoved(tx, source),
  write: storeJob,
  ended: recordEnd,
}

/** The worker type `localization`. */
export const translator = defineRequestedJob(translationJob)

/** Ends translation jobs that no worker could finish. */
export const deadTranslationJobs = defineDeadRequestedJob(translationJob)
