import { loadSource } from '../shared/jobs/projections/queries.ts'
import { queues } from '../shared/jobs/queues.ts'
import { refreshDocument } from '../shared/summaries/refresh.ts'
import { defineProjection } from './runtime/define-projection.ts'
import { oneByOne } from './runtime/one-by-one.ts'
import { atOnce, type ProjectionSource } from './runtime/projection.ts'
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
  const refresh = oneByOne<ProjectionSource, null>({
    name: 'summaries',
    queue: queues.summariesRefresh,
    async load(db, job) {
      const source = await loadSource(db, job)
      return source && { ...source, projected_seq: null }
    },
    // The summaries are made of what is locked at the end, which costs no more than loading it before.
    compute: atOnce(() => null),
    sameSource: () => true,
    projectedSeq: async () => null,
    async write(tx, job) {
      if (config.SUMMARY_AUTO_REFRESH) await refreshDocument(tx, job)
    },
  })
  return defineProjection(refresh)
}
