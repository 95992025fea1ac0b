import { setTimeout as sleep } from 'node:timers/promises'
import type { Job, JobResult } from 'pg-boss'
import { ComputationLimitError } from '../../shared/computations/computation.ts'
import { foreignStatements, inTransaction, type Transaction } from '../../shared/database/database.ts'
import { isOutage } from '../../shared/database/outages.ts'
import { causesOf } from '../../shared/errors/causes.ts'
import type { JobOutcome } from '../../shared/jobs/outcomes.ts'
import type { Queue } from '../../shared/jobs/queues.ts'
import type { Jobs } from '../../shared/jobs/send.ts'
import { ModelError } from '../../shared/models/model.ts'
import type { Runtime, Worker } from './runtime.ts'

/**
 * An outcome and its reason. `reason` is an error code or an `obsolete_reason`; `causes` are the messages of an error
 * and its causes.
 */
export type ExplainedOutcome = { outcome: JobOutcome; reason?: string; causes?: readonly string[] }

/** The end of an attempt at a job: an outcome, or what the job threw. */
export type AttemptEnd = ExplainedOutcome | { error: unknown }

/** A worker that runs the jobs of a queue one by one. */
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
        run: (jobs, stopping) =>
          Promise.all(
            jobs.map(async (job) => {
              const start = performance.now()
              const end = await run(runtime, job, stopping).catch((error: unknown) => ({ error }))
              return reportEnd(runtime, { queue, job, start, end }).result
            }),
          ),
      }),
  }
}

/** How a process works on a queue. */
type WorkOptions<Data extends object> = {
  queue: string
  /** How many fetched batches run at a time. */
  loops: number
  /** How many jobs a fetch claims at most. */
  batchSize: number
  /** The most jobs of one workspace that run at a time in this process; for batches of one job only. */
  ofOneWorkspace?: number
  /** Runs fetched jobs. pg-boss fails a job without a result, and all jobs when `run` throws or takes too long. */
  run: (jobs: Job<Data>[], stopping: AbortSignal) => Promise<JobResult[]>
}

/** pg-boss looks for jobs only once in so many seconds: notifications and `Wakeups` wake its workers earlier. */
const pollingIntervalSeconds = 300

/**
 * Works on a queue by workers of pg-boss, which fetch jobs, send their heartbeats, and settle them. Returns a function
 * that stops the workers and waits for running jobs.
 */
export async function workOn<Data extends object>(
  { jobs: { boss }, wakeups }: Pick<Runtime, 'jobs' | 'wakeups'>,
  { queue, loops, batchSize, ofOneWorkspace, run }: WorkOptions<Data>,
): Promise<() => Promise<void>> {
  const options = {
    batchSize,
    perJobResults: true,
    burstWhenBatchFull: true,
    pollingIntervalSeconds,
    ...(ofOneWorkspace !== undefined && { localGroupConcurrency: ofOneWorkspace }),
  } as const
  const stopping = new AbortController()
  const startLoop = async () => {
    const id = await boss.work<Data, object, typeof options>(queue, options, async (jobs) => {
      wakeups.rouse()
      try {
        return await run(jobs, stopping.signal)
      } finally {
        // pg-boss itself looks for the next job at once only behind a full batch of several jobs.
        if (batchSize === 1) boss.notifyWorker(id)
        wakeups.rouse()
      }
    })
    return id
  }
  const ids: string[] = []
  while (ids.length < loops) ids.push(await startLoop())
  const unsubscribe = wakeups.subscribe(queue, ids)
  return async () => {
    stopping.abort()
    unsubscribe()
    await Promise.all(ids.map((id) => boss.offWork(queue, { id, wait: true })))
  }
}

/** Thrown when pg-boss has given the job to another attempt. The transaction of the result must then roll back. */
export class FencedError extends Error {
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

/** The pause, in milliseconds, between two tries while the database is out of reach. */
const outagePauseMs = 500

/** The pause, in seconds, between an attempt that an outage of the database ended and the job that replaces it. */
export const outagePauseSeconds = 10

/**
 * Replaces an attempt that an outage of the database has ended, so that the outage uses up no retry. Tries until the
 * outage is over, the process stops or another attempt has the job.
 */
export async function replaceAfterOutage(
  runtime: Pick<Runtime, 'database' | 'jobs'>,
  { stopping, ...replacement }: Replacement & { stopping: AbortSignal },
): Promise<void> {
  const ended = AbortSignal.any([stopping, replacement.job.signal])
  while (!ended.aborted) {
    try {
      return await replaceAttempt(runtime, replacement)
    } catch (error) {
      if (error instanceof FencedError) return
      if (!isOutage(error)) throw error
    }
    await sleep(outagePauseMs, undefined, { signal: ended }).catch(() => {})
  }
}

type Replacement = { job: Job<object>; send: (tx: Transaction) => Promise<void> }

/** Ends an attempt by the job that `send` sends in its place, which has all its retries. */
export function replaceAttempt(
  { database, jobs }: Pick<Runtime, 'database' | 'jobs'>,
  { job, send }: Replacement,
): Promise<void> {
  return inTransaction(database, async (tx) => {
    await send(tx)
    await completeAttempts(tx, { jobs, attempts: [job] })
  })
}

/** How an attempt ended: its outcome, whether no further attempt follows a failure, and the result for pg-boss. */
type Report = { outcome: JobOutcome; isLast: boolean; result: JobResult }

/**
 * Logs and counts how an attempt ended. `start` is the `performance.now()` at which it began. Each of `shared` jobs
 * that ran together is counted with its share of the time. The result tells pg-boss that a job with an outcome is over,
 * that a job that threw is tried again, and that a job over its limit is a dead letter: another attempt would end in
 * the same way.
 */
export function reportEnd<Data extends object>(
  runtime: Pick<Runtime, 'log' | 'metrics'>,
  attempt: { queue: Queue<Data>; job: Job<Data>; start: number; shared?: number; end: AttemptEnd },
): Report {
  const { queue, job, start, shared = 1, end } = attempt
  const seconds = (performance.now() - start) / 1000 / shared
  const { outcome, ...explanation } = 'error' in end ? explain(end.error) : end
  runtime.metrics.count({ queue: queue.name, outcome, seconds })
  const isRetried = 'error' in end && outcome !== 'fenced'
  const hasRetries = outcome === 'outage' || (outcome !== 'over_limit' && !isLastAttempt(queue, job))
  const isLast = isRetried && !hasRetries
  const line = {
    ...{ queue: queue.name, job_id: job.id, attempt: job.retryCount, outcome, ms: Math.round(seconds * 1000) },
    // The id under which the API shows a requested job.
    ...('job_id' in job.data && { requested_job_id: job.data.job_id }),
    ...explanation,
  }
  if (isLast || outcome === 'dead' || (outcome === 'failed' && !isRetried)) runtime.log.error(line, 'job failed')
  else if (outcome === 'fenced') runtime.log.warn(line, 'another attempt has taken the job over')
  else if (isRetried) runtime.log.warn(line, 'job is tried again')
  else runtime.log.info(line, 'job')
  if (!isRetried) return { outcome, isLast, result: { id: job.id, status: 'completed' } }
  const status = outcome === 'over_limit' ? 'deadletter' : 'failed'
  return { outcome, isLast, result: { id: job.id, status, output: outputOf(end.error) } }
}

/** Whether pg-boss gives the job up when this attempt fails. */
export function isLastAttempt({ options }: Queue<object>, { retryCount }: Pick<Job, 'retryCount'>): boolean {
  return retryCount >= (options.retryLimit ?? 0)
}

// The stack of an error of a model says nothing about our code, so it is left out.
function explain(error: unknown): ExplainedOutcome & { err?: unknown } {
  if (error instanceof FencedError) return { outcome: 'fenced' }
  const causes = causesOf(error)
  if (error instanceof ModelError) return { outcome: 'failed', reason: error.code, causes }
  return { outcome: outcomeOf(error), err: error, causes }
}

function outcomeOf(error: unknown): JobOutcome {
  if (isOutage(error)) return 'outage'
  return error instanceof ComputationLimitError ? 'over_limit' : 'failed'
}

// What pg-boss keeps of a failure; `progressOf` reads the code.
function outputOf(error: unknown): object {
  const message = error instanceof Error ? error.message : String(error)
  return { message, ...(error instanceof ModelError && { code: error.code }) }
}
