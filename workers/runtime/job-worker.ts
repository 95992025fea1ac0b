import pLimit from 'p-limit'
import type { Job, JobResult } from 'pg-boss'
import { foreignStatements, type Transaction } from '../../shared/database/database.ts'
import type { JobOutcome } from '../../shared/jobs/metrics.ts'
import type { Queue } from '../../shared/jobs/queues.ts'
import { settledIds } from './attempts.ts'
import { type ExplainedOutcome, reportEnd } from './report.ts'
import type { Runtime, Worker } from './runtime.ts'
import { Taker, type Taking } from './take.ts'

/** A worker that takes the jobs of a queue; `run` completes its job itself, inside the transaction of its result. */
export type JobWorker<Data extends object> = {
  queue: Queue<Data>
  /** A job takes seconds or more, so each is fetched when there is nothing else to do in its place. */
  slow?: boolean
  run: (runtime: Runtime, job: Job<Data>) => Promise<JobOutcome | ExplainedOutcome>
}

/** Runs the jobs of a queue one by one, up to WORKER_CONCURRENCY at a time. What one throws fails that job. */
export function defineWorker<Data extends object>(worker: JobWorker<Data>): Worker {
  const { queue } = worker
  return {
    name: queue.name,
    async start(runtime) {
      const concurrency = runtime.config.WORKER_CONCURRENCY
      const limit = pLimit(concurrency)
      // Two loops share the limit: one fetches while the jobs of the other run, and a slow job holds up no others.
      const [loops, batchSize] = worker.slow ? [concurrency, 1] : [2, 2 * concurrency]
      const run = (jobs: Job<Data>[]) =>
        Promise.all(jobs.map((job) => limit(() => attemptJob({ worker, runtime, job }))))
      return takeJobs(runtime, { queue, loops, batchSize, run })
    },
  }
}

async function attemptJob<Data extends object>(attempt: {
  worker: JobWorker<Data>
  runtime: Runtime
  job: Job<Data>
}): Promise<JobResult> {
  const { worker, runtime, job } = attempt
  const report = { queue: worker.queue, job, start: performance.now() }
  try {
    const end = await worker.run(runtime, job)
    return reportEnd(runtime, { ...report, end: typeof end === 'string' ? { outcome: end } : end })
  } catch (error) {
    const end = error instanceof FencedError ? ({ outcome: 'fenced' } as const) : { error }
    return reportEnd(runtime, { ...report, end })
  }
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
  const { job, outcome, ...at } = attempt
  const completed = await completeAttempts(tx, { ...at, ends: [{ job, outcome }] })
  if (!completed.has(job.id)) throw new FencedError(`attempt ${job.retryCount} of job ${job.id} is over`)
}

/**
 * Completes attempts of jobs inside the transaction of their results and returns the ids of those that were still to be
 * completed. The others were taken over: the caller must not write their results. Completed jobs are deleted, since
 * nobody asks for them any more: how they ended is counted, and what people asked for has a row of its own.
 */
export async function completeAttempts<Data extends object>(
  tx: Transaction,
  attempts: { runtime: Runtime; queue: Queue<Data>; ends: readonly { job: Job<Data>; outcome: JobOutcome }[] },
): Promise<ReadonlySet<string>> {
  if (attempts.ends.length === 0) return new Set()
  const jobs = attempts.ends.map(({ job }) => job)
  const db = foreignStatements(tx)
  return new Set(settledIds(await attempts.runtime.jobs.boss.deleteJob(attempts.queue.name, jobs, { db })))
}

/**
 * Takes a queue's jobs as they become due, woken by announcements, and returns how to stop that, which waits for the
 * jobs that have begun. What fails is handed to pg-boss, which retries with backoff and at last moves the job to the
 * dead-letter queue.
 */
export async function takeJobs<Data extends object>(
  runtime: Runtime,
  taking: Taking<Data>,
): Promise<() => Promise<void>> {
  const taker = new Taker(runtime, taking)
  const unsubscribe = runtime.wakeups.subscribe(taking.queue.name, () => taker.wake(), taking.part)
  taker.wake()
  return async () => {
    unsubscribe()
    await taker.stop()
  }
}
