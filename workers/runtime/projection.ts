import type { Job, JobResult } from 'pg-boss'
import { scheduleAgain, unschedule } from '../../shared/jobs/projections/stale.ts'
import { type DocumentJob, largeOf } from '../../shared/jobs/queues.ts'
import { type Deriving, deriveRound, type Projection, type ProjectionSource } from './round.ts'
import type { Worker } from './runtime.ts'
import { type AttemptEnd, outagePauseSeconds, replaceAfterOutage, reportEnd, workOn } from './work.ts'

/** The largest number of rounds for a document before its job fails. */
const rounds = 3

/** The largest number of documents in a batch. */
const batchSize = 32

/**
 * Makes a worker of a projection.
 *
 * The first round is one transaction for a whole batch and waits for no writer. A document that is being written or
 * gone, or whose source has changed, is derived again by itself, in at most three rounds (`judge` in round.ts). So is
 * each document of a batch that cannot be written.
 *
 * Large documents have a queue of their own, and no workspace may use all of its loops. So no large document holds up a
 * small one.
 */
export function defineProjection<Source extends ProjectionSource, Result>(
  projection: Projection<Source, Result>,
): Worker {
  const { queue } = projection
  return {
    name: queue.name,
    async start(runtime) {
      const loops = Math.max(2, Math.floor(runtime.config.WORKER_CONCURRENCY / 2))
      const large = { queue: largeOf(queue).name, loops, batchSize: 1, ofOneWorkspace: loops - 1 }
      const run = (jobs: readonly Job<DocumentJob>[], stopping: AbortSignal) =>
        deriveAll({ projection, runtime, stopping }, jobs)
      const stopSmall = await workOn<DocumentJob>(runtime, { queue: queue.name, loops: 2, batchSize, run })
      const stopLarge = await workOn<DocumentJob>(runtime, { ...large, run })
      return async () => {
        await Promise.all([stopSmall(), stopLarge()])
      }
    },
  }
}

type Context<Source extends ProjectionSource, Result> = Deriving<Source, Result> & { stopping: AbortSignal }

// Derives fetched jobs: first a batch of different documents, in the order of their ids, then all jobs that are left.
async function deriveAll<Source extends ProjectionSource, Result>(
  deriving: Context<Source, Result>,
  jobs: readonly Job<DocumentJob>[],
): Promise<JobResult[]> {
  const different = [...new Map(jobs.map((job) => [job.data.document_id, job])).values()]
  const sorted = different.toSorted((a, b) => (a.data.document_id < b.data.document_id ? -1 : 1))
  const batch = sorted.length > 1 ? sorted : []
  const results = await deriveTogether(deriving, batch)
  const ended = new Set(results.map(({ id }) => id))
  for (const job of jobs) {
    if (!ended.has(job.id)) results.push(await deriveAlone(deriving, { job, firstRound: batch.includes(job) ? 2 : 1 }))
  }
  return results
}

// Returns the results of the jobs that have ended. All other jobs have to be derived again.
async function deriveTogether<Source extends ProjectionSource, Result>(
  deriving: Context<Source, Result>,
  jobs: readonly Job<DocumentJob>[],
): Promise<JobResult[]> {
  if (jobs.length === 0) return []
  const { runtime, projection } = deriving
  const start = performance.now()
  try {
    const ends = await deriveRound(deriving, { jobs, last: false })
    const ended = jobs.flatMap((job) => {
      const end = ends.get(job.id)
      return end === undefined ? [] : [settle(deriving, { job, start, shared: jobs.length, end })]
    })
    return await Promise.all(ended)
  } catch (err) {
    const line = { err, queue: projection.queue.name, jobs: jobs.length }
    runtime.log.warn(line, 'jobs that failed together are run one by one')
    return []
  }
}

async function deriveAlone<Source extends ProjectionSource, Result>(
  deriving: Context<Source, Result>,
  { job, firstRound }: { job: Job<DocumentJob>; firstRound: number },
): Promise<JobResult> {
  const start = performance.now()
  try {
    for (let round = firstRound; round <= rounds; round += 1) {
      const end = (await deriveRound(deriving, { jobs: [job], last: round === rounds })).get(job.id)
      if (end !== undefined) return await settle(deriving, { job, start, end })
    }
    throw new Error('the projection itself moved in every round')
  } catch (error) {
    return settle(deriving, { job, start, end: { error } })
  }
}

// Reports the end of an attempt. After an outage the job is replaced by another job. When the last attempt has failed,
// the mark of the document loses its job, so that the next write sends a job.
async function settle<Source extends ProjectionSource, Result>(
  { projection, runtime, stopping }: Context<Source, Result>,
  attempt: { job: Job<DocumentJob>; start: number; shared?: number; end: AttemptEnd | 'again' },
): Promise<JobResult> {
  const { job, end } = attempt
  if (end === 'again') return { id: job.id, status: 'completed' }
  const { queue, name } = projection
  const { outcome, isLast, result } = reportEnd(runtime, { ...attempt, queue, end })
  const { jobs, database, log } = runtime
  try {
    if (outcome === 'outage') {
      const again = { projection, jobs: [job.data], startAfter: outagePauseSeconds }
      await replaceAfterOutage(runtime, { job, stopping, send: (tx) => scheduleAgain({ tx, jobs }, again) })
    } else if (isLast) await unschedule(database, { projection: name, job })
  } catch (err) {
    log.warn({ err, queue: queue.name, job_id: job.id }, 'the sweep has to find this document')
  }
  return result
}
