import { type UserJobTable, userJobTables } from '../shared/jobs/queues.ts'
import { type JobSource, jobMoved, loadJob, recordEnd, runJob, storeJob } from '../shared/localization/jobs/run.ts'
import type { Translated } from '../shared/localization/jobs/translate.ts'
import { defineDeadUserJob } from './runtime/dead-requested-job.ts'
import { defineUserJob, type UserJob } from './runtime/requested-job.ts'

// Translation jobs make machine candidates for units. A person decides whether to apply them.
const translationJob: UserJob<JobSource, Translated> = {
  table: userJobTables.find(({ name }) => name === 'translation_jobs') as UserJobTable,
  load: loadJob,
  compute: runJob,
  moved: (tx, { source }) => jobMoved(tx, source),
  write: storeJob,
  ended: recordEnd,
}

/** The worker type `localization`. */
export const translator = defineUserJob(translationJob)

/** Ends translation jobs that no worker could finish. */
export const deadTranslationJobs = defineDeadUserJob(translationJob)
