import { inTransaction } from '../../shared/database/database.ts'
import { queues } from '../../shared/jobs/queues.ts'
import { expiredEntries, purgeEntry } from '../../shared/trash/purge.ts'
import { defineSweep } from './sweep.ts'

/** The number of expired entries that are looked up at once. */
const batch = 100

/**
 * Deletes the entries of the trash that have expired, each in a transaction of its own. The files of their attachments
 * become orphans, which the sweep of attachments removes.
 */
export const trashSweep = defineSweep({
  queue: queues.sweepTrash,
  cron: '37 * * * *',
  async sweep({ database }) {
    let total = 0
    for (;;) {
      const entries = await expiredEntries(database, { limit: batch })
      for (const entry of entries) await inTransaction(database, (tx) => purgeEntry(tx, entry))
      total += entries.length
      if (entries.length < batch) return total
    }
  },
})
