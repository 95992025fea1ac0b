import type { Job } from 'pg-boss'
import Type from 'typebox'
import { prepared, sql, type Transaction } from '../../shared/database/database.ts'
import { row } from '../../shared/database/row.ts'
import { type DocumentJob, heartbeatSeconds, type Queue } from '../../shared/jobs/queues.ts'
import { attemptOf } from '../../shared/jobs/requested/queries.ts'
import type { Jobs } from '../../shared/jobs/send.ts'
import { claimStatement, markStatement, type Part, unmarkStatement } from './job-queries.ts'
import type { JobSession } from './job-session.ts'

/**
 * The attempts at jobs on which this process works. Each attempt has a mark, which is an advisory lock of PostgreSQL,
 * and a heartbeat.
 */
export type Attempts = {
  /**
   * Claims up to `limit` due jobs of a queue, or of one part of the queue. For the part `large`, the jobs of the
   * workspaces in `except` are left out; other claims ignore `except`.
   */
  claim: <Data extends object>(
    queue: Queue<Data>,
    limit: number,
    of?: { part: Part; except: readonly string[] },
  ) => Promise<Job<Data>[]>
  /**
   * Claims due jobs by the same rules as `claim`. The result also tells whether there were more due jobs than were
   * claimed.
   */
  claimDue: <Data extends object>(
    queue: Queue<Data>,
    limit: number,
    of?: { part: Part; except: readonly string[] },
  ) => Promise<Claimed<Data>>
  /**
   * Ends the heartbeats of jobs that have ended. The marks of their attempts are removed some seconds later, many at a
   * time.
   */
  release: (jobs: readonly Job<object>[]) => void
  /**
   * Releases jobs that went back to the queue. The marks of their attempts are removed at once, because the next
   * attempts need the same marks.
   */
  giveBack: (jobs: readonly Job<object>[]) => void
  /** Marks all running attempts again, after the session and its locks were lost. */
  mark: () => void
  close: () => void
}

/** Claimed jobs. `more` says whether there were more due jobs. */
export type Claimed<Data extends object> = { jobs: Job<Data>[]; more: boolean }

/**
 * The interval of heartbeats. The first heartbeat of an attempt follows its claim after one and a half intervals at the
 * latest.
 */
const beatMs = (heartbeatSeconds * 1000) / 2

/** The most marks of ended attempts that are kept, since each mark takes room in PostgreSQL's table of locks. */
const mostEndedMarks = 100

type RunningAttempt = { job: Job<object>; queue: string; since: number; marked: boolean; lapsed: AbortController }

/**
 * Opens the attempts of this process. PostgreSQL releases the advisory locks of `session` when the process dies, and
 * the heartbeats stop when the process hangs. The supervision in any other process notices lost locks and missing
 * heartbeats. The `signal` of a job aborts when pg-boss has given the job to another attempt.
 */
export function openAttempts(options: {
  session: JobSession
  jobs: Jobs
  onError: (error: unknown) => void
}): Attempts {
  const { session, jobs, onError } = options
  const running = new Map<string, RunningAttempt>()
  // The marks of attempts that have ended.
  const ended: string[] = []
  const markAgain = async () => {
    const keys = [...running].filter(([, { marked }]) => !marked).map(([key]) => key)
    if (keys.length === 0) return
    for (const { key } of await session.query<{ key: string }>(markStatement, [keys])) {
      const attempt = running.get(key)
      if (attempt !== undefined) attempt.marked = true
    }
  }
  const unmark = async () => {
    if (ended.length > 0) await session.query(unmarkStatement, [ended.splice(0)])
  }
  const release = (jobs: readonly Job<object>[]) => {
    for (const job of jobs) {
      const key = attemptOf(job)
      // A job that was given back may have been claimed again already.
      if (running.get(key)?.job !== job) continue
      running.delete(key)
      ended.push(key)
    }
  }
  const beat = async () => {
    await Promise.all([markAgain(), unmark(), ...beats(jobs, [...running.values()])])
  }
  const beating = setInterval(() => void beat().catch(onError), beatMs)
  const claimDue: Attempts['claimDue'] = async <Data extends object>(
    queue: Queue<Data>,
    limit: number,
    of?: { part: Part; except: readonly string[] },
  ) => {
    const values = [queue.name, limit, ...(of?.part === 'large' ? [of.except] : [])]
    const rows = await session.query<Job<Data> & { mark: unknown; found: number }>(
      claimStatement(queue, of?.part),
      values,
    )
    const found = rows[0]?.found ?? 0
    const claimed = rows.map(({ mark: _, found: __, ...fetched }) => {
      const lapsed = new AbortController()
      const job = { ...fetched, signal: lapsed.signal }
      running.set(attemptOf(job), { job, queue: queue.name, since: performance.now(), marked: true, lapsed })
      return job
    })
    return { jobs: claimed, more: found === limit || found > claimed.length }
  }
  return {
    claimDue,
    claim: async (...request) => (await claimDue(...request)).jobs,
    release(jobs) {
      release(jobs)
      if (ended.length >= mostEndedMarks) unmark().catch(onError)
    },
    giveBack(jobs) {
      release(jobs)
      unmark().catch(onError)
    },
    mark() {
      for (const attempt of running.values()) attempt.marked = false
      ended.length = 0
      markAgain().catch(onError)
    },
    close: () => clearInterval(beating),
  }
}

// Sends the heartbeats, one call for each queue. A claim counts as a heartbeat, so young attempts send none. So most
// attempts end without a call, and no heartbeat waits for the row of a job that is being completed. When pg-boss does
// not find an attempt, another attempt has its job.
function beats({ boss }: Jobs, running: readonly RunningAttempt[]): Promise<void>[] {
  const claimed = performance.now() - beatMs / 2
  const alive = running.filter(({ since, lapsed }) => since < claimed && !lapsed.signal.aborted)
  return [...Map.groupBy(alive, ({ queue }) => queue)].map(async ([queue, attempts]) => {
    const jobs = attempts.map(({ job }) => job)
    const beaten = new Set(settledIds(await boss.touch(queue, jobs)))
    for (const { job, lapsed } of attempts) {
      if (!beaten.has(job.id)) lapsed.abort(new Error('another attempt has the job'))
    }
  })
}

/** Thrown when pg-boss has given the job to another attempt. The transaction of the result must then roll back. */
export class FencedError extends Error {
  override readonly name = 'FencedError'
}

/**
 * Completes an attempt at a job inside the transaction of its result. Throws a `FencedError` when another attempt has
 * taken the job over. So a worker that was only asleep cannot write over the result of the later attempt.
 */
export async function completeAttempt<Data extends object>(
  tx: Transaction,
  { queue, job }: { runtime: unknown; queue: Queue<Data>; job: Job<Data> },
): Promise<void> {
  const completed = await completeAttempts(tx, { queue, jobs: [job] })
  if (!completed.has(job.id)) throw new FencedError(`attempt ${job.retryCount} of job ${job.id} is over`)
}

const CompletedRow = row(Type.Object({ completed: Type.Array(Type.String()) }))

/**
 * Completes attempts at jobs inside the transaction of their results, and returns the ids of the completed jobs. A job
 * whose id is not returned was taken over by another attempt, so the caller must not write its result. Completed jobs
 * are deleted, since nobody reads them: metrics count how they ended, and a requested job has a row of its own.
 *
 * `current` names documents by the ids of their jobs. The projection of these documents is now current, so their rows
 * in `stale_projections` are deleted with the jobs. The caller must have locked the rows of these documents in
 * `documents`.
 */
export async function completeAttempts<Data extends object>(
  tx: Transaction,
  attempts: {
    queue: Queue<Data>
    jobs: readonly Job<Data>[]
    current?: { projection: string; jobs: ReadonlyMap<string, DocumentJob> }
  },
): Promise<ReadonlySet<string>> {
  const { queue, jobs, current } = attempts
  if (jobs.length === 0) return new Set()
  const ids = jobs.map(({ id }) => id)
  const retryCounts = jobs.map(({ retryCount }) => retryCount)
  const documents = ids.map((id) => current?.jobs.get(id))
  const completed = await tx.oneFirst(
    prepared(sql.type(CompletedRow)`
    SELECT pgboss.complete_attempts(${queue.name}, ${sql.array(ids, 'uuid')}, ${sql.array(retryCounts, 'int4')},
      ${current?.projection ?? ''}, ${sql.array(
        documents.map((job) => job?.workspace_id ?? ''),
        'text',
      )},
      ${sql.array(
        documents.map((job) => job?.document_id ?? ''),
        'text',
      )},
      ${sql.array(
        documents.map((job) => job !== undefined),
        'bool',
      )}) AS completed`),
  )
  return new Set(completed)
}

/**
 * The ids of the jobs that a call of pg-boss has found and changed. The type that pg-boss declares leaves out the
 * member `settled`.
 */
export function settledIds(response: { affected?: number }): readonly string[] {
  return (response as { settled?: string[] }).settled ?? []
}
