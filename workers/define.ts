import pLimit from 'p-limit'
import type { Job, JobResult } from 'pg-boss'
import { foreignStatements, inTransaction, type Queryable, type Transaction } from '../shared/database.ts'
import type { JobOutcome } from '../shared/job-metrics.ts'
import { type DocumentSource, lockSource, markCurrent } from '../shared/projections/queries.ts'
import { type DocumentJob, pollingOptions, type Queue } from '../shared/queues.ts'
import { failOrphans } from './attempts.ts'
import type { Runtime, Worker } from './runtime.ts'

/** What is loaded: the source, and the body_seq at which the projection stood, since a write may be incremental. */
export type ProjectionSource = DocumentSource & { projected_seq: number | null }

/** A derived noun's projection of documents, declared: how its source is read, what becomes of it, where it goes. */
export type Projection<Source extends ProjectionSource, Result> = {
  /** Its name in `projections` of shared/queues.ts. */
  name: string
  queue: Queue<DocumentJob>
  /** Reads the source without a lock; null when the document is gone. */
  load: (db: Queryable, job: DocumentJob) => Promise<Source | null>
  /** Derives, outside any transaction. */
  compute: (source: Source, job: DocumentJob) => Promise<Result> | Result
  /** Whether the projection would come out the same from both: compares what it depends on, nothing more. */
  sameSource: (source: Source, current: DocumentSource) => boolean
  /** Locks the projection's row and returns the body_seq it stands at; null when there is none. */
  projectedSeq: (tx: Transaction, job: DocumentJob) => Promise<number | null>
  write: (tx: Transaction, job: DocumentJob, derived: { source: Source; result: Result }) => Promise<void>
}

/** Points at which a test can make the source move, or a process die. */
export type ProjectionHooks = { beforeCommit?: (job: DocumentJob) => Promise<void> }

/**
 * Makes a worker of a projection. The obsolete rule lives here, once: load, compute, then lock the source and write
 * only if it is still the one that was loaded. A source that moved is derived again, at most three times; then a
 * result that is newer than what is projected may still be written, so that constant writing cannot starve the
 * projection, but it stays marked as stale, and the job of the newer version is queued already (decisions B4).
 */
export function defineProjection<Source extends ProjectionSource, Result>(
  projection: Projection<Source, Result>,
  hooks: ProjectionHooks = {},
): Worker {
  return defineWorker({
    queue: projection.queue,
    run: async (runtime, job) => {
      for (let round = 1; ; round += 1) {
        const source = await projection.load(runtime.database, job.data)
        const derived = source && { source, result: await projection.compute(source, job.data) }
        await hooks.beforeCommit?.(job.data)
        const outcome = await inTransaction(runtime.database, async (tx) => {
          const written = await commit(tx, { projection, job: job.data, derived, last: round === rounds })
          if (written !== 'moved')
            await completeAttempt(tx, { runtime, queue: projection.queue, job, outcome: written })
          return written
        })
        if (outcome !== 'moved') return outcome
        if (round === rounds) throw new Error('the projection itself moved in every round')
      }
    },
  })
}

const rounds = 3

async function commit<Source extends ProjectionSource, Result>(
  tx: Transaction,
  input: {
    projection: Projection<Source, Result>
    job: DocumentJob
    derived: { source: Source; result: Result } | null
    last: boolean
  },
): Promise<JobOutcome | 'moved'> {
  const { projection, job, derived } = input
  const current = await lockSource(tx, job)
  if (current === null) return 'gone'
  // It was there at the lock but not at the load: its first body was still being committed.
  if (derived === null) return 'moved'
  const projected = await projection.projectedSeq(tx, job)
  const same = projection.sameSource(derived.source, current)
  if (projected !== derived.source.projected_seq || (!same && !input.last)) return 'moved'
  if (!same && projected !== null && derived.source.body_seq <= projected) return 'obsolete'
  await projection.write(tx, job, derived)
  if (same) await markCurrent(tx, { projection: projection.name, job })
  return same ? 'current' : 'behind'
}

/** A worker that takes the jobs of a queue; `run` completes its job itself, inside the transaction of its result. */
export type JobWorker<Data extends object> = {
  queue: Queue<Data>
  /** A job takes seconds or more, so each is fetched when there is nothing else to do in its place. */
  slow?: boolean
  run: (runtime: Runtime, job: Job<Data>) => Promise<JobOutcome>
}

/** Thrown when the attempt was given to somebody else: its result must not be committed. */
export class FencedError extends Error {
  override readonly name = 'FencedError'
}

/**
 * Completes this attempt of a job inside the transaction of its result. An attempt that was taken over meanwhile is
 * fenced off: the transaction rolls back, so a worker that was only asleep cannot write over its successor.
 */
export async function completeAttempt<Data extends object>(
  tx: Transaction,
  attempt: { runtime: Runtime; queue: Queue<Data>; job: Job<Data>; outcome: JobOutcome },
): Promise<void> {
  const { boss } = attempt.runtime.jobs
  const db = foreignStatements(tx)
  const response = await boss.complete(attempt.queue.name, attempt.job, { outcome: attempt.outcome }, { db })
  // pg-boss returns the count but leaves it out of the declared type.
  if ((response as { affected?: number }).affected !== 1)
    throw new FencedError(`attempt ${attempt.job.retryCount} of job ${attempt.job.id} is over`)
}

/**
 * Runs a queue's jobs: up to WORKER_CONCURRENCY at a time, woken by notification. What a job throws is logged, counted
 * and handed to pg-boss, which retries with backoff and at last moves the job to the dead-letter queue. So are, every
 * second, the attempts of processes that have died.
 */
export function defineWorker<Data extends object>(worker: JobWorker<Data>): Worker {
  const { name } = worker.queue
  return {
    name,
    async start(runtime) {
      const { boss } = runtime.jobs
      const concurrency = runtime.config.WORKER_CONCURRENCY
      const limit = pLimit(concurrency)
      // Two loops share the limit: one fetches while the jobs of the other run, and a slow job holds up no others.
      const options = {
        ...pollingOptions,
        ...(worker.slow
          ? { localConcurrency: concurrency, batchSize: 1 }
          : { localConcurrency: 2, batchSize: 2 * concurrency }),
        burstWhenBatchFull: true,
        perJobResults: true,
      } as const
      await boss.work<Data, object, typeof options>(name, options, async (jobs: Job<Data>[]) => {
        runtime.attempts.hold(jobs)
        const results = await Promise.all(jobs.map((job) => limit(() => attemptJob({ worker, runtime, job }))))
        runtime.attempts.release(jobs)
        return results
      })
      const onError = (err: unknown) => runtime.log.warn({ err, queue: name }, 'search for dead workers')
      const looking = setInterval(() => void failOrphans(runtime, worker.queue).catch(onError), 1000)
      return async () => {
        clearInterval(looking)
        await boss.offWork(name, { wait: true })
      }
    },
  }
}

async function attemptJob<Data extends object>(attempt: {
  worker: JobWorker<Data>
  runtime: Runtime
  job: Job<Data>
}): Promise<JobResult> {
  const { worker, runtime, job } = attempt
  const queue = worker.queue.name
  const log = runtime.log.child({ queue, job_id: job.id, attempt: job.retryCount })
  const start = performance.now()
  const finish = (outcome: JobOutcome) => {
    const seconds = (performance.now() - start) / 1000
    runtime.metrics.count({ queue, outcome, seconds })
    return { outcome, ms: Math.round(seconds * 1000) }
  }
  try {
    log.info(finish(await worker.run(runtime, job)), 'job')
    return { id: job.id, status: 'completed' }
  } catch (error) {
    if (error instanceof FencedError) {
      log.warn(finish('fenced'), error.message)
      return { id: job.id, status: 'completed' }
    }
    log.error({ ...finish('failed'), err: error }, 'job failed')
    return { id: job.id, status: 'failed', output: { message: error instanceof Error ? error.message : String(error) } }
  }
}
