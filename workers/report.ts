import type { Job, JobResult } from 'pg-boss'
import { ComputationLimitError } from '../shared/computations/computation.ts'
import type { JobOutcome } from '../shared/job-metrics.ts'
import { isOutage } from '../shared/outages.ts'
import type { Queue } from '../shared/queues.ts'
import type { Runtime } from './runtime.ts'

/** How an attempt at a job ended. */
export type AttemptEnd = { outcome: JobOutcome } | { error: unknown }

/**
 * An attempt at a job that has ended; `start` is when it began, by `performance.now()`, and `shared` how many jobs took
 * that time together, so that the time spent in all of them adds up.
 */
export type EndedAttempt<Data extends object> = {
  queue: Queue<Data>
  job: Job<Data>
  start: number
  shared?: number
  end: AttemptEnd
}

/**
 * Logs and counts how an attempt ended, and returns it as pg-boss wants to know it: an attempt with an outcome needs
 * nothing more from pg-boss, since it was completed with its result, or is somebody else's by now. What took too much
 * time or memory twice goes to the dead-letter queue without further tries.
 */
export function reportEnd<Data extends object>(runtime: Runtime, attempt: EndedAttempt<Data>): JobResult {
  const { queue, job, start, shared = 1, end } = attempt
  const failed = 'error' in end
  const outcome = failed ? failureOf(end.error) : end.outcome
  const seconds = (performance.now() - start) / 1000 / shared
  runtime.metrics.count({ queue: queue.name, outcome, seconds })
  const line = {
    queue: queue.name,
    job_id: job.id,
    attempt: job.retryCount,
    outcome,
    ms: Math.round(seconds * 1000),
  }
  if (!failed) {
    if (outcome === 'fenced') runtime.log.warn(line, 'another attempt has taken the job over')
    else runtime.log.info(line, 'job')
    return { id: job.id, status: 'completed' }
  }
  const { error } = end
  const outage = outcome === 'outage'
  if (outage) runtime.log.warn({ ...line, err: error }, 'job is tried again after an outage of the database')
  else runtime.log.error({ ...line, err: error }, 'job failed')
  // The same computation ends in the same way: the second try is for a machine that was out of breath at the first.
  const status = outcome === 'over_limit' && job.retryCount > 0 ? 'deadletter' : 'failed'
  const message = error instanceof Error ? error.message : String(error)
  return { id: job.id, status, output: { message, ...(outage && { outage }) } }
}

function failureOf(error: unknown): JobOutcome {
  if (isOutage(error)) return 'outage'
  return error instanceof ComputationLimitError ? 'over_limit' : 'failed'
}
