import pLimit from 'p-limit'
import type { Job, JobResult } from 'pg-boss'
import { inTransaction } from '../../shared/database/database.ts'
import { scheduleAgain, unschedule } from '../../shared/jobs/projections/stale.ts'
import { type DocumentJob, largeOf } from '../../shared/jobs/queues.ts'
import type { Projection, ProjectionHooks, ProjectionSource } from './projection.ts'
import { type AttemptEnd, reportEnd } from './report.ts'
import { type Deriving, deriveRound } from './round.ts'
import type { Worker } from './runtime.ts'
import { completeAttempts, FencedError, outagePauseSeconds, replaceAfterOutage, workOn } from './work.ts'

/** The largest number of rounds for a document before its job fails. */
const rounds = 3

/** The largest number of documents in a batch, unless the projection sets the member `together`. */
const batchDocuments = 32

/** The priority of a document whose computation went over its limit once. */
const lowestPriority = -1000

/**
 * Makes a worker of a projection.
 *
 * A round loads the sources, computes, then locks the documents and writes only what still follows from their current
 * sources (`deriveRound`). A document whose source has changed meanwhile is derived again, in at most three rounds. The
 * last round writes a result that is newer than the stored data even when the source has changed again. So constant
 * writing cannot starve the projection. The document then stays stale, and the round sends its next job.
 *
 * The first round is one transaction for a whole batch and waits for no writer. A document gets a round of its own when
 * it is being written or gone, or when its source has changed. A document that cannot be computed fails by itself. When
 * a batch cannot be written, each of its documents gets a round of its own.
 *
 * Large documents have a queue of their own, to which a round sends those that it finds among the small documents. They
 * are derived one by one, in threads and in fair turns. So no large document holds up a small document. There are at
 * least two loops for large documents, and no workspace may use all of them.
 */
export function defineProjection<Source extends ProjectionSource, Result>(
  projection: Projection<Source, Result>,
  hooks: ProjectionHooks = {},
): Worker {
  const { queue, together = batchDocuments } = projection
  return {
    name: queue.name,
    async start(runtime) {
      const deriving = (stopping: AbortSignal) => ({ projection, hooks, runtime, stopping })
      const concurrency = runtime.config.WORKER_CONCURRENCY
      const batchSize = Math.max(together, 2 * concurrency)
      const largeLoops = Math.max(2, Math.floor(concurrency / 2))
      const stops = await Promise.all([
        workOn<DocumentJob>(runtime, {
          ...{ queue: queue.name, loops: 2, batchSize },
          run: (jobs, stopping) => deriveFetched(deriving(stopping), jobs, together),
        }),
        workOn<DocumentJob>(runtime, {
          ...{ queue: largeOf(queue).name, loops: largeLoops, batchSize: 1, ofOneWorkspace: largeLoops - 1 },
          run: (jobs, stopping) =>
            Promise.all(jobs.map((job) => deriveAlone(deriving(stopping), { job, firstRound: 1 }))),
        }),
      ])
      return async () => {
        await Promise.all(stops.map((stop) => stop()))
      }
    },
  }
}

type Context<Source extends ProjectionSource, Result> = Deriving<Source, Result> & { stopping: AbortSignal }

// Derives fetched jobs: first a batch of different documents, in the order of their ids, then all jobs that are left,
// some at the same time. Each loop has a limit of its own. With a common limit, jobs of one loop that wait for locks
// could keep all jobs of the other loop from running. Documents whose job failed before come last.
async function deriveFetched<Source extends ProjectionSource, Result>(
  deriving: Context<Source, Result>,
  jobs: readonly Job<DocumentJob>[],
  together: number,
): Promise<JobResult[]> {
  const different = [...new Map(jobs.map((job) => [job.data.document_id, job])).values()]
  const batch = together === 1 ? [] : different.toSorted((a, b) => (a.data.document_id < b.data.document_id ? -1 : 1))
  const ended = batch.length > 1 ? await deriveTogether(deriving, batch) : []
  const endedIds = new Set(ended.map(({ id }) => id))
  const limit = pLimit(Math.max(1, Math.floor(deriving.runtime.config.WORKER_CONCURRENCY / 2)))
  const singly = jobs
    .filter(({ id }) => !endedIds.has(id))
    .toSorted((a, b) => a.retryCount - b.retryCount)
    .map((job) =>
      limit(() => deriveAlone(deriving, { job, firstRound: batch.length > 1 && batch.includes(job) ? 2 : 1 })),
    )
  return [...ended, ...(await Promise.all(singly))]
}

// Derives a batch and returns the results of the jobs that have ended. All other jobs have to be derived again, each by
// itself. A batch that fails has no results.
async function deriveTogether<Source extends ProjectionSource, Result>(
  deriving: Context<Source, Result>,
  jobs: readonly Job<DocumentJob>[],
): Promise<JobResult[]> {
  const { runtime, projection } = deriving
  const { queue } = projection
  const start = performance.now()
  try {
    const ends = await deriveRound(deriving, { jobs, last: false })
    const ended = jobs.flatMap((job) => {
      const end = ends.get(job.id)
      return end === undefined ? [] : [report(deriving, { job, start, shared: jobs.length, end })]
    })
    return await Promise.all(ended)
  } catch (err) {
    runtime.log.warn({ err, queue: queue.name, jobs: jobs.length }, 'jobs that failed together are run one by one')
    return []
  }
}

async function deriveAlone<Source extends ProjectionSource, Result>(
  deriving: Context<Source, Result>,
  { job, firstRound }: { job: Job<DocumentJob>; firstRound: number },
): Promise<JobResult> {
  const attempt = { job, start: performance.now() }
  try {
    for (let round = firstRound; round <= rounds; round += 1) {
      const end = (await deriveRound(deriving, { jobs: [job], last: round === rounds })).get(job.id)
      if (end !== undefined) return await report(deriving, { ...attempt, end })
    }
    throw new Error('the projection itself moved in every round')
  } catch (error) {
    const end = error instanceof FencedError ? ({ outcome: 'fenced' } as const) : { error }
    return report(deriving, { ...attempt, end })
  }
}

// Reports the end of an attempt. The job is replaced by another job after an outage, and by a job behind all others
// when the computation went over its limit. When the last attempt has failed, the mark of the document loses its job,
// so that the next write sends a job.
async function report<Source extends ProjectionSource, Result>(
  { projection, runtime, stopping }: Context<Source, Result>,
  attempt: { job: Job<DocumentJob>; start: number; shared?: number; end: AttemptEnd | 'again' },
): Promise<JobResult> {
  const { job, end } = attempt
  if (end === 'again') return { id: job.id, status: 'completed' }
  const { outcome, isLast, result } = reportEnd(runtime, { queue: projection.queue, ...attempt, end })
  const { jobs, database, log } = runtime
  try {
    if (outcome === 'outage') {
      const large = job.name === largeOf(projection.queue).name
      const again = { projection, jobs: [job.data], large, startAfter: outagePauseSeconds }
      await replaceAfterOutage(runtime, { job, stopping, send: (tx) => scheduleAgain({ tx, jobs }, again) })
    } else if (outcome === 'over_limit' && !isLast) {
      const again = { projection, jobs: [{ ...job.data, is_last_try: true }], large: true, priority: lowestPriority }
      await inTransaction(database, async (tx) => {
        await scheduleAgain({ tx, jobs }, again)
        await completeAttempts(tx, { jobs, attempts: [job] })
      })
    } else if (isLast) await unschedule(database, { projection: projection.name, job })
  } catch (err) {
    log.warn({ err, queue: projection.queue.name, job_id: job.id }, 'the sweep has to find this document')
  }
  return result
}
