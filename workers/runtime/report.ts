import type { Job, JobResult } from 'pg-boss'
import { ComputationLimitError } from '../../shared/computations/computation.ts'
import { isOutage } from '../../shared/database/outages.ts'
import { causesOf } from '../../shared/errors/causes.ts'
import type { JobOutcome } from '../../shared/jobs/outcomes.ts'
import type { Queue } from '../../shared/jobs/queues.ts'
import { ModelError } from '../../shared/models/model.ts'
import type { Runtime } from './runtime.ts'

/**
 * An outcome and its reason. `reason` is an error code or an `obsolete_reason`; `causes` are the messages of an error
 * and its causes.
 */
export type ExplainedOutcome = { outcome: JobOutcome; reason?: string; causes?: readonly string[] }

/** The end of an attempt at a job: an outcome, or what the job threw. */
export type AttemptEnd = ExplainedOutcome | { error: unknown }

/**
 * An attempt that has ended. `start` is the `performance.now()` at which the attempt began. `shared` is the number of
 * jobs that ran together in this time. Each job is counted with its share of the time, so that all jobs add up to the
 * time spent.
 */
export type EndedAttempt<Data extends object> = {
  queue: Queue<Data>
  job: Job<Data>
  start: number
  shared?: number
  end: AttemptEnd
}

/** How an attempt ended: its outcome, whether no further attempt follows a failure, and the result for pg-boss. */
export type Reported = { outcome: JobOutcome; isLast: boolean; result: JobResult }

/**
 * Logs and counts how an attempt ended: as an error when the job failed for good, as a warning when it is tried again.
 * An attempt with an outcome is `completed`: its transaction completed it, or another attempt has the job by now. A job
 * is a `deadletter`, without further attempts, when its computation went over its limit twice.
 */
export function reportEnd<Data extends object>(runtime: Runtime, attempt: EndedAttempt<Data>): Reported {
  const { queue, job, start, shared = 1, end } = attempt
  const outcome = 'error' in end ? failureOf(end.error) : end.outcome
  const seconds = (performance.now() - start) / 1000 / shared
  runtime.metrics.count({ queue: queue.name, outcome, seconds })
  const line = {
    queue: queue.name,
    job_id: job.id,
    ...requestedJobId(job.data),
    attempt: job.retryCount,
    outcome,
    ms: Math.round(seconds * 1000),
  }
  if ('error' in end) return reportFailure(runtime, { queue, job, outcome, line, error: end.error })
  const { outcome: _, ...explanation } = end
  if (outcome === 'fenced') runtime.log.warn(line, 'another attempt has taken the job over')
  else if (isFailure(outcome)) runtime.log.error({ ...line, ...explanation }, 'job failed')
  else runtime.log.info({ ...line, ...explanation }, 'job')
  return { outcome, isLast: false, result: { id: job.id, status: 'completed' } }
}

function reportFailure<Data extends object>(
  runtime: Runtime,
  failure: { queue: Queue<Data>; job: Job<Data>; outcome: JobOutcome; line: object; error: unknown },
): Reported {
  const { queue, job, outcome, error } = failure
  const isModels = error instanceof ModelError
  const causes = causesOf(error)
  // The model has failed and not our code, so the stack of the error is of no use and is left out.
  const line = { ...failure.line, ...(isModels ? { reason: error.code } : { err: error }), causes }
  // A computation over its limit is tried once more, because the machine may have been overloaded. A third attempt
  // would only end in the same way.
  const status = outcome === 'over_limit' && 'is_last_try' in job.data ? 'deadletter' : 'failed'
  const isLast = status === 'deadletter' || job.retryCount >= (queue.options.retryLimit ?? 0)
  if (outcome === 'outage') runtime.log.warn(line, 'job is tried again after an outage of the database')
  else if (isLast) runtime.log.error(line, 'job failed')
  else runtime.log.warn(line, 'job is tried again')
  const message = error instanceof Error ? error.message : String(error)
  const output = { message, ...(isModels && { code: error.code }) }
  return { outcome, isLast, result: { id: job.id, status, output } }
}

// The id under which the API shows a requested job.
function requestedJobId(data: object): { requested_job_id?: string } {
  return 'job_id' in data && typeof data.job_id === 'string' ? { requested_job_id: data.job_id } : {}
}

function isFailure(outcome: JobOutcome): boolean {
  return outcome === 'failed' || outcome === 'dead'
}

function failureOf(error: unknown): JobOutcome {
  if (isOutage(error)) return 'outage'
  return error instanceof ComputationLimitError ? 'over_limit' : 'failed'
}
