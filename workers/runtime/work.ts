import { setTimeout as sleep } from 'node:timers/promises'
import type { Job, JobResult } from 'pg-boss'
import { ComputationLimitError } from '../../shared/computations/computation.ts'
import { foreignStatements, type Transaction } from '../../shared/database/database.ts'
import { isOutage } from '../../shared/database/outages.ts'
import { causesOf } from '../../shared/errors/causes.ts'
import type { Queue } from '../../shared/jobs/queues.ts'
import type { Jobs } from '../../shared/jobs/send.ts'
import { ModelError } from '../../shared/models/model.ts'
import type { Runtime, Worker } from './runtime.ts'

/** How an attempt at a job ended. README.md beside this file explains every outcome. */
export type JobOutcome =
  | ('current' | 'behind' | 'obsolete' | 'gone' | 'large' | 'done')
  | ('failed' | 'over_limit' | 'fenced' | 'released')

/** `reason` is an error code or an `obsolete_reason`; `causes` are the messages of an error and its causes. */
export type ExplainedOutcome = { outcome: JobOutcome; reason?: string; causes?: readonly string[] }

/** The end of an attempt at a job: an outcome, or what the job threw. */
export type AttemptEnd = ExplainedOutcome | { error: unknown }

type JobWorker<Data extends object> = {
  queue: Queue<Data>
  /**
   * Runs one job; `stopping` aborts when the process is to end. A job with a result completes itself by
   * `completeAttempts`, inside the transaction of the result. pg-boss completes any other job, and tries the job again
   * when `run` throws.
   */
  run: (runtime: Runtime, job: Job<Data>, stopping: AbortSignal) => Promise<ExplainedOutcome>
}

/** Makes a worker that runs the jobs of a queue one by one, WORKER_CONCURRENCY of them at a time. */
export function defineWorker<Data extends object>({ queue, run }: JobWorker<Data>): Worker {
  return {
    name: queue.name,
    start: (runtime) =>
      workOn<Data>(runtime, {
        ...{ queue: queue.name, loops: runtime.config.WORKER_CONCURRENCY, batchSize: 1 },
        async run(jobs, stopping) {
          const attempts = jobs.map((job) =>
            runAttempt(runtime, { queue, job, stopping, run: () => run(runtime, job, stopping) }),
          )
          return (await Promise.all(attempts)).map(({ result }) => result)
        },
      }),
  }
}

type WorkOptions<Data extends object> = {
  queue: string
  /** How many fetched batches run at a time. */
  loops: number
  /** How many jobs a fetch claims at most. */
  batchSize: number
  /** The most jobs of one workspace that run at a time in this process; for batches of one job only. */
  ofOneWorkspace?: 1
  /** Runs fetched jobs. pg-boss fails a job without a result, and all jobs when `run` throws or takes too long. */
  run: (jobs: Job<Data>[], stopping: AbortSignal) => Promise<JobResult[]>
}

/** pg-boss looks for jobs only once in so many seconds: notifications and `openWakeups` wake its workers earlier. */
const pollingIntervalSeconds = 300

/** Starts workers of pg-boss. Returns a function that stops the workers and waits for running jobs. */
export async function workOn<Data extends object>(
  { jobs: { boss } }: Pick<Runtime, 'jobs'>,
  { queue, loops, batchSize, ofOneWorkspace, run }: WorkOptions<Data>,
): Promise<() => Promise<void>> {
  const options = {
    ...{ batchSize, perJobResults: true, burstWhenBatchFull: true, pollingIntervalSeconds },
    ...(ofOneWorkspace !== undefined && { localGroupConcurrency: ofOneWorkspace }),
  } as const
  const stopping = new AbortController()
  for (let loop = 0; loop < loops; loop += 1) {
    const id: string = await boss.work<Data, object, typeof options>(queue, options, async (jobs) => {
      try {
        return await run(jobs, stopping.signal)
      } finally {
        // pg-boss itself looks for the next job at once only behind a full batch of several jobs.
        if (batchSize === 1) boss.notifyWorker(id)
      }
    })
  }
  return () => {
    stopping.abort()
    return boss.offWork(queue, { wait: true })
  }
}

/** Thrown when pg-boss has given the job to another attempt. The transaction of the result must then roll back. */
class FencedError extends Error {
  override readonly name = 'FencedError'
}

/**
 * Completes attempts at jobs of one queue inside the transaction of their results. Throws a `FencedError` when another
 * attempt has taken one of the jobs over, so a worker that was only asleep cannot write over a later result. Completed
 * jobs are deleted, since nobody reads them.
 */
export async function completeAttempts(
  tx: Transaction,
  { jobs, attempts }: { jobs: Jobs; attempts: readonly Pick<Job, 'id' | 'name' | 'retryCount'>[] },
): Promise<void> {
  const [first] = attempts
  if (first === undefined) return
  const answer = await jobs.boss.deleteJob(first.name, [...attempts], { db: foreignStatements(tx) })
  // pg-boss documents the number of affected jobs, and its type leaves the member out.
  if ((answer as { affected?: number }).affected === attempts.length) return
  throw new FencedError(`another attempt has one of the jobs ${attempts.map(({ id }) => id).join(', ')}`)
}

type Attempt<Data extends object> = { queue: Queue<Data>; job: Job<Data>; stopping: AbortSignal }

/** Whether no further attempt follows a failure, and the result for pg-boss. */
type Report = { isLast: boolean; result: JobResult }

/** The first and the longest pause, in milliseconds, between two tries while the database cannot be used. */
const [firstOutagePauseMs, longestOutagePauseMs] = [500, 4000]

/**
 * Runs an attempt and reports its end. While the database cannot be used, the attempt begins again and again, with
 * growing pauses, so that an outage uses up no retry.
 */
export async function runAttempt<Data extends object>(
  runtime: Pick<Runtime, 'log' | 'durations'>,
  { run, ...attempt }: Attempt<Data> & { run: () => Promise<AttemptEnd> },
): Promise<Report> {
  const { queue, job, stopping } = attempt
  const start = performance.now()
  const ended = AbortSignal.any([stopping, job.signal])
  for (let pauseMs = firstOutagePauseMs; ; pauseMs = Math.min(2 * pauseMs, longestOutagePauseMs)) {
    try {
      return reportEnd(runtime, { ...attempt, start, end: await run() })
    } catch (error) {
      // A model that cannot be reached looks like an outage, too.
      const isWaiting = isOutage(error) && !(error instanceof ModelError) && !ended.aborted
      if (!isWaiting) return reportEnd(runtime, { ...attempt, start, end: { error } })
      runtime.log.warn({ err: error, queue: queue.name, job_id: job.id }, 'the job waits for the database')
      await sleep(pauseMs, undefined, { signal: ended }).catch(() => {})
    }
  }
}

/**
 * Logs and counts how an attempt ended. `start` is the `performance.now()` at which it began. Each of `shared` jobs
 * that ran together is counted with its share of the time. The result tells pg-boss that a job with an outcome is over,
 * that a job that threw is tried again, and that a job over its limit is a dead letter: another attempt would end in
 * the same way.
 */
export function reportEnd<Data extends object>(
  runtime: Pick<Runtime, 'log' | 'durations'>,
  attempt: Omit<Attempt<Data>, 'stopping'> & { start: number; shared?: number; end: AttemptEnd },
): Report {
  const { queue, job, start, shared = 1, end } = attempt
  const seconds = (performance.now() - start) / 1000 / shared
  const { outcome, ...explanation } = 'error' in end ? explain(end.error) : end
  runtime.durations.observe({ queue: queue.name, outcome }, seconds)
  const isRetried = 'error' in end && outcome !== 'fenced'
  const isLast = isRetried && (outcome === 'over_limit' || job.retryCount >= (queue.options.retryLimit ?? 0))
  const line = {
    ...{ queue: queue.name, job_id: job.id, attempt: job.retryCount, outcome, ms: Math.round(seconds * 1000) },
    // The id under which the API shows a requested job.
    ...('job_id' in job.data && { requested_job_id: job.data.job_id }),
    ...explanation,
  }
  if (isLast || (outcome === 'failed' && !isRetried)) runtime.log.error(line, 'job failed')
  else if (outcome === 'fenced') runtime.log.warn(line, 'another attempt has taken the job over')
  else if (isRetried) runtime.log.warn(line, 'job is tried again')
  else runtime.log.info(line, 'job')
  if (!isRetried) return { isLast, result: { id: job.id, status: 'completed' } }
  const status = outcome === 'over_limit' ? 'deadletter' : 'failed'
  return { isLast, result: { id: job.id, status, output: outputOf(end.error) } }
}

// The stack of an error of a model says nothing about our code, so it is left out.
function explain(error: unknown): ExplainedOutcome & { err?: unknown } {
  if (error instanceof FencedError) return { outcome: 'fenced' }
  const causes = causesOf(error)
  if (error instanceof ModelError) return { outcome: 'failed', reason: error.code, causes }
  return { outcome: error instanceof ComputationLimitError ? 'over_limit' : 'failed', err: error, causes }
}

// What pg-boss keeps of a failure; `progressOf` reads the code.
function outputOf(error: unknown): object {
  const message = error instanceof Error ? error.message : String(error)
  return { message, ...(error instanceof ModelError && { code: error.code }) }
}
