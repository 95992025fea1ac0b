import { setTimeout as sleep } from 'node:timers/promises'
import type { Job, JobResult } from 'pg-boss'
import { foreignStatements, inTransaction, type Transaction } from '../../shared/database/database.ts'
import { isOutage } from '../../shared/database/outages.ts'
import type { Jobs } from '../../shared/jobs/send.ts'
import type { Runtime } from './runtime.ts'

/** How a process works on a queue. */
export type WorkOptions<Data extends object> = {
  queue: string
  /** How many fetched batches run at a time. */
  loops: number
  /** How many jobs a fetch claims at most. */
  batchSize: number
  /** The most jobs of one workspace that run at a time in this process; for batches of one job only. */
  ofOneWorkspace?: number
  /**
   * Runs fetched jobs; `stopping` aborts when the process is to end. pg-boss fails a job without a result, and all jobs
   * when `run` throws or takes too long.
   */
  run: (jobs: Job<Data>[], stopping: AbortSignal) => Promise<JobResult[]>
}

/**
 * pg-boss looks for jobs by itself only once in so many seconds: notifications and `Wakeups` wake its workers earlier.
 */
const pollingIntervalSeconds = 300

/**
 * Works on a queue by workers of pg-boss, which fetch jobs, send their heartbeats, and settle them: a failed job is
 * retried with growing pauses and at last moved to the dead-letter queue. Returns a function that stops the workers and
 * waits for running jobs.
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
  const loop = async () => {
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
  for (let number = 0; number < loops; number += 1) ids.push(await loop())
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
 * Completes attempts at jobs of a queue inside the transaction of their results. Throws a `FencedError` when another
 * attempt has taken one of the jobs over. So a worker that was only asleep cannot write over the result of the later
 * attempt. Completed jobs are deleted, since nobody reads them: metrics count how they ended, and a requested job has a
 * row of its own. All jobs are of one queue.
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
 * Ends an attempt that an outage of the database has ended, by sending another job in its place. So the outage uses up
 * no retry. Tries until the outage is over, the process stops or another attempt has the job.
 */
export async function replaceAfterOutage(
  { database, jobs }: Pick<Runtime, 'database' | 'jobs'>,
  { job, stopping, send }: { job: Job<object>; stopping: AbortSignal; send: (tx: Transaction) => Promise<void> },
): Promise<void> {
  const ended = AbortSignal.any([stopping, job.signal])
  while (!ended.aborted) {
    try {
      return await inTransaction(database, async (tx) => {
        await send(tx)
        await completeAttempts(tx, { jobs, attempts: [job] })
      })
    } catch (error) {
      if (error instanceof FencedError) return
      if (!isOutage(error)) throw error
    }
    await sleep(outagePauseMs, undefined, { signal: ended }).catch(() => {})
  }
}
