import { queues } from '../../shared/jobs/queues.ts'
import { refreshContainers } from '../../shared/summaries/refresh.ts'
import { defineSweep } from './sweep.ts'

/**
 * Refreshes the stored summaries of folders and knowledge bases that were made without a model, where
 * SUMMARY_AUTO_REFRESH is set. Any write below a folder makes the summary of the folder stale. So summaries are derived
 * again once a minute, not after each write.
 */
export const summarySweep = defineSweep({
  queue: queues.sweepSummaries,
  cron: '* * * * *',
  scheduled: (config) => config.SUMMARY_AUTO_REFRESH,
  sweep: async ({ config, database }) => (config.SUMMARY_AUTO_REFRESH ? refreshContainers(database) : 0),
})
