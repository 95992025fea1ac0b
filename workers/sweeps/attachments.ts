import { removeOrphans } from '../../shared/attachments/orphans.ts'
import { openFileStore } from '../../shared/attachments/store.ts'
import { queues } from '../../shared/jobs/queues.ts'
import { defineSweep } from './sweep.ts'

/**
 * The number of files that the store removes in one call. A transaction stays idle meanwhile. Removing 100 files takes
 * much less time than the limit on idle transactions allows.
 */
const batch = 100

/** Removes the files of deleted attachments, and orphaned uploads that a crash left behind an hour ago. */
export const attachmentSweep = defineSweep({
  queue: queues.sweepAttachments,
  cron: '*/5 * * * *',
  async sweep({ database, config }) {
    const files = await openFileStore(config)
    let total = 0
    for (;;) {
      const removed = await removeOrphans({ database, files }, { limit: batch })
      total += removed
      if (removed < batch) return total
    }
  },
})
