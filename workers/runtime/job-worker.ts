import type { Job, JobResult } from 'pg-boss'
import type { JobOutcome } from '../../shared/jobs/outcomes.ts'
import type { Queue } from '../../shared/jobs/queues.ts'
import { type ExplainedOutcome, reportEnd } from './report.ts'
import type { Runtime, Worker } from './runtime.ts'
import { FencedError, workOn } from './work.ts'

/** A worker that runs the jobs of a queue one by one. */
export type JobWorker<Data extends object> = {
  queue: Queue<Data>
  /**
   * Runs one job; `stopping` aborts when the process is to end. A job with a result completes itself by
   * `completeAttempts`, inside the transaction of the result. pg-boss completes any other job, and tries the job again
   * when `run` throws.
   */
  run: (runtime: Runtime, job: Job<Data>, stopping: AbortSignal) => Promise<JobOutcome | ExplainedOutcome>
}

/** Makes a worker that runs the jobs of a queue one by one, WORKER_CONCURRENCY of them at a time. */
export function defineWorker<Data extends object>(worker: JobWorker<Data>): Worker {
  const { queue } = worker
  return {
    name: queue.name,
    start: (runtime) =>
      workOn<Data>(runtime, {
        ...{ queue: queue.name, loops: runtime.config.WORKER_CONCURRENCY, batchSize: 1 },
        run: (jobs, stopping) => Promise.all(jobs.map((job) => attemptJob({ worker, runtime, job, stopping }))),
      }),
  }
}

async function attemptJob<Data extends object>(attempt: {
  worker: JobWorker<Data>
  runtime: Runtime
  job: Job<Data>
  stopping: AbortSignal
}): Promise<JobResult> {
  const { worker, runtime, job, stopping } = attempt
  const report = { queue: worker.queue, job, start: performance.now() }
  try {
    const end = await worker.run(runtime, job, stopping)
    return reportEnd(runtime, { ...report, end: typeof end === 'string' ? { outcome: end } : end }).result
  } catch (error) {
    const end = error instanceof FencedError ? ({ outcome: 'fenced' } as const) : { error }
    return reportEnd(runtime, { ...report, end }).result
  }
}
