import { queues } from '../shared/jobs/queues.ts'
import { summaryJobs } from '../shared/jobs/requested/queries.ts'
import {
  askForSummary,
  loadJobSource,
  lockAndCompare,
  type SummaryJobSource,
  writeModelSummary,
} from '../shared/summaries/by-model/job.ts'
import {
  loadRefreshSources,
  type RefreshSource,
  summarising,
  type TextSummary,
  writeSummaries,
} from '../shared/summaries/refresh.ts'
import { defineProjection } from './runtime/projection.ts'
import { defineRequestedJob, type RequestedJob } from './runtime/requested-job.ts'
import type { Runtime, Worker } from './runtime/runtime.ts'

/** Summaries by a model, which people request and pay for (`api/guide/summaries.md#refresh`). @internal */
export const summaryJob: RequestedJob<SummaryJobSource, string> = {
  table: summaryJobs,
  load: loadJobSource,
  compute: askForSummary,
  moved: (tx, { source, ahead }) => lockAndCompare({ tx, ahead }, source),
  async write(tx, { key, source, result }) {
    await writeModelSummary(tx, { key, source, text: result })
    return { status: 'succeeded' }
  },
}

/** Writes requested summaries. */
export const summaryWriter = defineRequestedJob(summaryJob)

/**
 * Refreshes the stored summaries of documents that change, where SUMMARY_AUTO_REFRESH is set. These summaries are
 * deterministic, that is, made without a model. A document without stored summaries gets no job.
 */
export const summaryRefresher: Worker = {
  name: queues.summariesRefresh.name,
  start: (runtime) => refreshProjection(runtime).start(runtime),
}

function refreshProjection({ config }: Runtime): Worker {
  return defineProjection<RefreshSource, TextSummary[]>({
    name: 'summaries',
    queue: queues.summariesRefresh,
    // There is no row to lock here, because `writeSummaries` locks and compares each stored summary itself.
    storedIn: null,
    load: (db, jobs) => loadRefreshSources(db, jobs, { autoRefresh: config.SUMMARY_AUTO_REFRESH }),
    compute: summarising,
    sameSource: (source, current) => source.version === current.version && source.title === current.title,
    async write(tx, derived) {
      for (const one of derived) await writeSummaries(tx, one)
    },
  })
}
