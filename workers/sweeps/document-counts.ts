import { gatherDocumentCounts } from '../../shared/documents/count-queries.ts'
import { queues } from '../../shared/queues.ts'
import { defineSweep } from './define.ts'

/** Keeps the rows few by whose sum searches know the number of documents. */
export const documentCountSweep = defineSweep({
  queue: queues.sweepDocumentCounts,
  cron: '*/5 * * * *',
  async sweep({ database }) {
    let total = 0
    for (;;) {
      const gone = await gatherDocumentCounts(database, { many, workspaces: batch })
      total += gone
      if (gone === 0) return total
    }
  },
})

const many = 50
const batch = 100
