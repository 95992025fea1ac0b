import { loadSources } from '../shared/projections/queries.ts'
import { queues } from '../shared/queues.ts'
import { refreshDocument } from '../shared/summaries/refresh.ts'
import { defineProjection, type ProjectionSource } from './projection.ts'
import type { Runtime, Worker } from './runtime.ts'

/**
 * Refreshes the stored deterministic summaries of documents that change, where SUMMARY_AUTO_REFRESH says so (decisions
 * 2.11). Documents of which nothing is stored have no job at all.
 */
export const summaryRefresher: Worker = {
  name: queues.summariesRefresh.name,
  start: (runtime) => projectionOf(runtime).start(runtime),
}

function projectionOf({ config }: Runtime): Worker {
  return defineProjection<ProjectionSource, null>({
    name: 'summaries',
    queue: queues.summariesRefresh,
    async load(db, jobs) {
      const sources = await loadSources(db, jobs)
      return new Map([...sources].map(([id, source]) => [id, { ...source, projected_seq: null }]))
    },
    // The summaries are made of what is locked at the end, which costs no more than loading it before.
    compute: () => null,
    sameSource: () => true,
    projectedSeqs: async () => new Map(),
    async write(tx, derived) {
      if (!config.SUMMARY_AUTO_REFRESH) return
      for (const { job } of derived) await refreshDocument(tx, job)
    },
  })
}
