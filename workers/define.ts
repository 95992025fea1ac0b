import pLimit from 'p-limit'
import type { Job, JobResult } from 'pg-boss'
import { foreignStatements, type Transaction } from '../shared/database.ts'
import type { JobOutcome } from '../shared/job-metrics.ts'
import { pollingOptions, type Queue } from '../shared/queues.ts'
import { failOrphans } from './attempts.ts'
import { excuseOutages } from './outages.ts'
import { reportEnd } from './report.ts'
import type { Runtime, Worker } from './runtime.ts'

/** A worker that takes the jobs of a queue; `run` completes its job itself, inside the transaction of its result. */
export type JobWorker<Data extends object> = {
  queue: Queue<Data>
  /** A job takes seconds or more, so each is fetched when there is nothing else to do in its place. */
  slow?: boolean
  run: (runtime: Runtime, job: Job<Data>) => Promise<JobOutcome>
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
    return reportEnd(runtime, { ...report, end: { outcome: await worker.run(runtime, job) } })
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
 * completed. The others were taken over: the caller must not write their results.
 */
export async function completeAttempts<Data extends object>(
  tx: Transaction,
  attempts: { runtime: Runtime; queue: Queue<Data>; ends: readonly { job: Job<Data>; outcome: JobOutcome }[] },
): Promise<ReadonlySet<string>> {
  const { boss } = attempts.runtime.jobs
  const db = foreignStatements(tx)
  const completed = new Set<string>()
  // One statement an outcome, of which a batch has one as a rule.
  for (const [outcome, ends] of Map.groupBy(attempts.ends, (end) => end.outcome)) {
    const jobs = ends.map(({ job }) => job)
    const response = await boss.complete(attempts.queue.name, jobs, { outcome }, { db })
    // pg-boss returns the ids but leaves them out of the declared type.
    for (const id of (response as { settled?: string[] | null }).settled ?? []) completed.add(id)
  }
  return completed
}

/** How the jobs of a queue are taken: by so many loops, each of which fetches up to `batchSize` and runs them. */
export type Taking<Data extends object> = {
  queue: Queue<Data>
  loops: number
  batchSize: number
  run: (jobs: Job<Data>[]) => Promise<JobResult[]>
}

/**
 * Takes a queue's jobs as they become due, woken by notification, and returns how to stop it. What fails is handed to
 * pg-boss, which retries with backoff and at last moves the job to the dead-letter queue. So are, every second, the
 * attempts of processes that have died.
 */
export async function takeJobs<Data extends object>(
  runtime: Runtime,
  { queue, loops, batchSize, run }: Taking<Data>,
): Promise<() => Promise<void>> {
  const { boss } = runtime.jobs
  const { name } = queue
  const options = {
    ...pollingOptions,
    localConcurrency: loops,
    batchSize,
    burstWhenBatchFull: true,
    perJobResults: true,
  } as const
  await boss.work<Data, object, typeof options>(name, options, async (jobs: Job<Data>[]) => {
    runtime.attempts.hold(jobs)
    try {
      const results = await run(jobs)
      await excuseOutages(runtime.database, { queue, jobs, results })
      return results
    } finally {
      runtime.attempts.release(jobs)
    }
  })
  const onError = (err: unknown) => runtime.log.warn({ err, queue: name }, 'search for dead workers')
  const looking = setInterval(() => void failOrphans(runtime, queue).catch(onError), 1000)
  return async () => {
    clearInterval(looking)
    await boss.offWork(name, { wait: true })
  }
}
