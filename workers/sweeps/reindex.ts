import { inTransaction } from '../../shared/database/database.ts'
import { queues, type ReindexJob } from '../../shared/jobs/queues.ts'
import { groupOf } from '../../shared/jobs/send.ts'
import {
  enqueueStep,
  firstStep,
  outdatedDocuments,
  reindexKey,
  reindexStep,
} from '../../shared/search/index/reindex.ts'
import type { Worker } from '../runtime/runtime.ts'
import { completeAttempts, defineWorker } from '../runtime/work.ts'

const outdated = { documents: 'outdated', knowledge_base_id: null } as const

const steps = defineWorker<ReindexJob>({
  queue: queues.searchReindex,
  async run(runtime, job) {
    const { database, jobs, log } = runtime
    const step = await reindexStep(database, job.data)
    await inTransaction(database, async (tx) => {
      await completeAttempts(tx, { jobs, attempts: [job] })
      await enqueueStep({ tx, jobs }, { job: job.data, step })
    })
    const { documents, knowledge_base_id } = job.data
    const enqueued = job.data.enqueued + step.documents.length
    const progress = { documents, knowledge_base_id, enqueued, outdated: await outdatedDocuments(database) }
    log.info(progress, step.next === null ? 'reindex: all are enqueued' : 'reindex')
    return { outcome: 'done' }
  },
})

/**
 * Enqueues jobs for documents that must be indexed again, in steps. Every five minutes the worker looks for documents
 * that another version of the tokeniser indexed. An operator can ask for further documents
 * (shared/search/index/reindex-command.ts).
 */
export const searchReindexer: Worker = {
  name: steps.name,
  async start(runtime) {
    const group = groupOf({})
    const options = { missed: 'once', singletonKey: reindexKey(outdated), group } as const
    await runtime.jobs.boss.schedule(queues.searchReindex.name, '*/5 * * * *', firstStep(outdated), options)
    return steps.start(runtime)
  },
}
