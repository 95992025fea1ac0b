import { queues } from '../shared/jobs/queues.ts'
import { loadRefreshSource, type RefreshSource, writeSummaries } from '../shared/summaries/refresh.ts'
import type { TextSummary } from '../shared/summaries/text-summaries.ts'
import { summarising } from './runtime/computations.ts'
import { oneByOne } from './runtime/one-by-one.ts'
import { defineProjection } from './runtime/projection-worker.ts'
import type { Runtime, Worker } from './runtime/runtime.ts'

/**
 * Refreshes the stored deterministic summaries of documents that change, where SUMMARY_AUTO_REFRESH says so (decisions
 * 2.11). Documents of which nothing is stored have no job at all.
 */
export const summaryRefresher: Worker = {
  name: queues.summariesRefresh.name,
  start: (runtime) => projectionOf(runtime).start(runtime),
}

function projectionOf({ config }: Runtime): Worker {
  const refresh = oneByOne<RefreshSource, TextSummary[]>({
    name: 'summaries',
    queue: queues.summariesRefresh,
    async load(db, job) {
      const source = await loadRefreshSource(db, job)
      return source && (config.SUMMARY_AUTO_REFRESH ? source : { ...source, targets: [] })
    },
    compute: summarising,
    sameSource: (source, current) => source.version === current.version && source.title === current.title,
    projectedSeq: async () => null,
    write: (tx, _job, derived) => writeSummaries(tx, derived),
  })
  return defineProjection(refresh)
}
