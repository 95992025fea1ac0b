import type { Job, JobResult } from 'pg-boss'
import type { Queryable, Transaction } from '../../shared/database/database.ts'
import type { ProjectionComputation } from '../../shared/jobs/projections/computation.ts'
import type { Derived, DocumentSource, StoredIn } from '../../shared/jobs/projections/queries.ts'
import { scheduleAgain, unschedule } from '../../shared/jobs/projections/stale.ts'
import { type DocumentJob, largeOf, type Queue } from '../../shared/jobs/queues.ts'
import { type Deriving, deriveRound } from './round.ts'
import type { Worker } from './runtime.ts'
import { type AttemptEnd, outagePauseSeconds, replaceAttempt, reportEnd, workOn } from './work.ts'

/**
 * A source of a document as it was loaded. `projected_seq` is the `body_seq` of the stored data at the load, null when
 * nothing is stored. A result may build on the stored data, so it is written only if these still have this `body_seq`.
 */
export type ProjectionSource = DocumentSource & { projected_seq: number | null }

/**
 * A projection: data that are derived from documents. `defineProjection` makes a worker of it, which calls the members
 * in the order in which they stand here, for a batch of different documents. Any member may throw: nothing is written
 * then, and pg-boss tries the job again. CONTRIBUTING.md has a complete example.
 */
export type Projection<Source extends ProjectionSource, Result> = {
  /** The name of the projection in `projections` of `shared/jobs/queues.ts`. */
  name: string
  queue: Queue<DocumentJob>
  /** The table whose rows are locked and compared before a result is written; null when `write` does so itself. */
  storedIn: StoredIn | null
  /** Whether readers wait until the projection is current, so that every round is announced to them. */
  isAnnounced?: true
  /** Reads the sources by document id, without locks. A document that is gone or not yet committed has no source. */
  load: (db: Queryable, jobs: readonly DocumentJob[]) => Promise<ReadonlyMap<string, Source>>
  /** Derives the result of one document, in a thread unless its `isSmall` says that the document is small. */
  compute: ProjectionComputation<Source, Result>
  /**
   * Tells, under the locks, whether the loaded and the current source give the same result. The comparison must cover
   * everything that the projection depends on and nothing more.
   */
  sameSource: (source: Source, current: DocumentSource) => boolean
  /** Tells whether a source is only the first part of what the stored data lack. Parts bound the memory of a round. */
  isPart?: (source: Source) => boolean
  /** Writes the results that may be written, of which there is at least one, in the order of document ids. */
  write: (tx: Transaction, derived: readonly Derived<Source, Result>[]) => Promise<void>
}

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
      const deriving = { projection, runtime }
      const loops = Math.max(2, Math.floor(runtime.config.WORKER_CONCURRENCY / 2))
      const large = { queue: largeOf(queue).name, loops, batchSize: 1, ofOneWorkspace: loops - 1 }
      const run = (jobs: readonly Job<DocumentJob>[]) => deriveAll(deriving, jobs)
      const stopSmall = await workOn<DocumentJob>(runtime, { queue: queue.name, loops: 2, batchSize, run })
      const stopLarge = await workOn<DocumentJob>(runtime, { ...large, run })
      return async () => {
        await Promise.all([stopSmall(), stopLarge()])
      }
    },
  }
}

// Derives fetched jobs: first a batch of different documents, in the order of their ids, then all jobs that are left.
async function deriveAll<Source extends ProjectionSource, Result>(
  deriving: Deriving<Source, Result>,
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
  deriving: Deriving<Source, Result>,
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
  deriving: Deriving<Source, Result>,
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
  { projection, runtime }: Deriving<Source, Result>,
  attempt: { job: Job<DocumentJob>; start: number; shared?: number; end: AttemptEnd | 'again' },
): Promise<JobResult> {
  const { job, end } = attempt
  if (end === 'again') return { id: job.id, status: 'completed' }
  const { queue, name } = projection
  const { outcome, isLast, result } = reportEnd(runtime, { ...attempt, queue, end })
  const { jobs, database, log } = runtime
  try {
    if (outcome === 'outage') {
      const large = job.name === largeOf(queue).name
      const again = { projection, jobs: [job.data], large, startAfter: outagePauseSeconds }
      await replaceAttempt(runtime, { job, send: (tx) => scheduleAgain({ tx, jobs }, again) })
    } else if (isLast) await unschedule(database, { projection: name, job })
  } catch (err) {
    log.warn({ err, queue: queue.name, job_id: job.id }, 'the sweep has to find this document')
  }
  return result
}
