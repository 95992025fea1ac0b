import pLimit from 'p-limit'
import type { Job, JobResult } from 'pg-boss'
import type { JobOutcome } from '../../shared/jobs/outcomes.ts'
import type { Queue } from '../../shared/jobs/queues.ts'
import { FencedError } from './attempts.ts'
import { type ExplainedOutcome, reportEnd } from './report.ts'
import type { Runtime, Worker } from './runtime.ts'
import { takeJobs } from './take.ts'

/** A worker that runs the jobs of a queue one by one. */
export type JobWorker<Data extends object> = {
  queue: Queue<Data>
  /** Whether a job takes seconds or more. Slow jobs are fetched only when the process is free to run them. */
  slow?: boolean
  /**
   * Runs one job. `run` itself completes the job by `completeAttempt`, inside the transaction of the result. When `run`
   * throws, pg-boss tries the job again.
   */
  run: (runtime: Runtime, job: Job<Data>) => Promise<JobOutcome | ExplainedOutcome>
}

/** Makes a worker that runs the jobs of a queue one by one, up to WORKER_CONCURRENCY of them at a time. */
export function defineWorker<Data extends object>(worker: JobWorker<Data>): Worker {
  const { queue } = worker
  return {
    name: queue.name,
    async start(runtime) {
      const concurrency = runtime.config.WORKER_CONCURRENCY
      const limit = pLimit(concurrency)
      // Two loops share the limit: one loop fetches jobs while the jobs of the other loop run. A worker of slow jobs
      // has a loop for each running job.
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
