import { queues } from '../../shared/jobs/queues.ts'
import { refreshContainers } from '../../shared/summaries/refresh.ts'
import { defineSweep } from './sweep.ts'

/**
 * Refreshes the stored deterministic summaries of folders and knowledge bases, where SUMMARY_AUTO_REFRESH is set. Any
 * write below a folder makes its summary stale, so summaries are derived again once a minute instead of once a write.
 */
export const summarySweep = defineSweep({
  queue: queues.sweepSummaries,
  cron: '* * * * *',
  scheduled: (config) => config.SUMMARY_AUTO_REFRESH,
  sweep: async ({ config, database }) => (config.SUMMARY_AUTO_REFRESH ? refreshContainers(database) : 0),
})
