import type { Job } from 'pg-boss'
import { foreignStatements, type Transaction } from '../../shared/database/database.ts'
import { heartbeatSeconds, type Queue } from '../../shared/jobs/queues.ts'
import { attemptOf } from '../../shared/jobs/requested/queries.ts'
import type { Jobs } from '../../shared/jobs/send.ts'
import { claimStatement, markStatement, type Part, unmarkStatement } from './job-queries.ts'
import type { JobSession } from './job-session.ts'

/** The attempts at jobs on which this process works. Each has an advisory lock, its mark, and a heartbeat. */
export type Attempts = {
  /**
   * Claims up to `limit` due jobs of a queue, or of one part of it. The workspaces in `except` are left out; the part
   * `large` alone knows them.
   */
  claim: <Data extends object>(
    queue: Queue<Data>,
    limit: number,
    of?: { part: Part; except: readonly string[] },
  ) => Promise<Job<Data>[]>
  /** Gives up the marks and heartbeats of jobs that have ended. */
  release: (jobs: readonly Job<object>[]) => void
  /** Marks the attempts again, after the session and its locks were lost. */
  mark: () => void
  close: () => void
}

type RunningAttempt = { job: Job<object>; queue: string; marked: boolean; lapsed: AbortController }

/**
 * Opens the attempts of this process. PostgreSQL releases the advisory locks of `session` when the process dies, and
 * the heartbeats stop when the process hangs: supervision of any process sees both. The `signal` of a job aborts when
 * pg-boss has given the job to another attempt.
 */
export function openAttempts(options: {
  session: JobSession
  jobs: Jobs
  onError: (error: unknown) => void
}): Attempts {
  const { session, jobs, onError } = options
  const running = new Map<string, RunningAttempt>()
  const markAgain = async () => {
    const keys = [...running].filter(([, { marked }]) => !marked).map(([key]) => key)
    if (keys.length === 0) return
    for (const { key } of await session.query<{ key: string }>(markStatement, [keys])) {
      const attempt = running.get(key)
      if (attempt !== undefined) attempt.marked = true
    }
  }
  const beat = async () => {
    await Promise.all([markAgain(), ...beats(jobs, [...running.values()])])
  }
  const beating = setInterval(() => void beat().catch(onError), (heartbeatSeconds * 1000) / 2)
  return {
    async claim<Data extends object>(
      queue: Queue<Data>,
      limit: number,
      of?: { part: Part; except: readonly string[] },
    ) {
      const values = [queue.name, limit, ...(of?.part === 'large' ? [of.except] : [])]
      const rows = await session.query<Job<Data> & { mark: unknown }>(claimStatement(queue, of?.part), values)
      return rows.map(({ mark: _, ...fetched }) => {
        const lapsed = new AbortController()
        const job = { ...fetched, signal: lapsed.signal }
        running.set(attemptOf(job), { job, queue: queue.name, marked: true, lapsed })
        return job
      })
    },
    release(ended) {
      const keys = ended.map(attemptOf)
      // Only the same attempt is removed, because a job that was given back to the queue may have been claimed again
      // already.
      for (const job of ended) if (running.get(attemptOf(job))?.job === job) running.delete(attemptOf(job))
      // A session that is lost has no locks any more.
      session.query(unmarkStatement, [keys]).catch(() => {})
    },
    mark() {
      for (const attempt of running.values()) attempt.marked = false
      markAgain().catch(onError)
    },
    close: () => clearInterval(beating),
  }
}

// Sends the heartbeats, one call for each queue. An attempt that pg-boss does not find any more has lapsed.
function beats({ boss }: Jobs, running: readonly RunningAttempt[]): Promise<void>[] {
  const alive = running.filter(({ lapsed }) => !lapsed.signal.aborted)
  return [...Map.groupBy(alive, ({ queue }) => queue)].map(async ([queue, attempts]) => {
    const jobs = attempts.map(({ job }) => job)
    const beaten = new Set(settledIds(await boss.touch(queue, jobs)))
    for (const { job, lapsed } of attempts) {
      if (!beaten.has(job.id)) lapsed.abort(new Error('another attempt has the job'))
    }
  })
}

/** Thrown when pg-boss has given the job to another attempt: the transaction of the result must roll back. */
export class FencedError extends Error {
  override readonly name = 'FencedError'
}

/**
 * Completes an attempt at a job inside the transaction of its result. Throws a `FencedError` when another attempt has
 * taken the job over. So a worker that was only asleep cannot write over its successor.
 */
export async function completeAttempt<Data extends object>(
  tx: Transaction,
  attempt: { runtime: { jobs: Jobs }; queue: Queue<Data>; job: Job<Data> },
): Promise<void> {
  const { runtime, queue, job } = attempt
  const completed = await completeAttempts(tx, { runtime, queue, jobs: [job] })
  if (!completed.has(job.id)) throw new FencedError(`attempt ${job.retryCount} of job ${job.id} is over`)
}

/**
 * Completes attempts at jobs inside the transaction of their results. Returns the ids of the jobs it has completed.
 * Other attempts have taken over the jobs that are missing there, and the caller must not write the results of these
 * jobs. Completed jobs are deleted, since nobody reads them: metrics count how they ended, and a requested job has a
 * row of its own.
 */
export async function completeAttempts<Data extends object>(
  tx: Transaction,
  attempts: { runtime: { jobs: Jobs }; queue: Queue<Data>; jobs: readonly Job<Data>[] },
): Promise<ReadonlySet<string>> {
  const { runtime, queue, jobs } = attempts
  if (jobs.length === 0) return new Set()
  const db = foreignStatements(tx)
  return new Set(settledIds(await runtime.jobs.boss.deleteJob(queue.name, [...jobs], { db })))
}

/** The ids of the jobs that a call of pg-boss was about and still found. pg-boss's declared type leaves them out. */
export function settledIds(response: { affected?: number }): readonly string[] {
  return (response as { settled?: string[] }).settled ?? []
}
