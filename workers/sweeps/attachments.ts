import { removeOrphans } from '../../shared/attachments/orphans.ts'
import { openFileStore } from '../../shared/attachments/store.ts'
import { queues } from '../../shared/jobs/queues.ts'
import { defineSweep } from './sweep.ts'

/** Removes the bytes of deleted attachments, and those of uploads that a crash has left behind for an hour. */
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

// What the store removes in one call, well within the time a transaction may idle.
const batch = 100
