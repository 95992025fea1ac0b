import type { Job } from 'pg-boss'
import { heartbeatSeconds, type Queue } from '../../shared/jobs/queues.ts'
import type { Jobs } from '../../shared/jobs/send.ts'
import { claimStatement, markStatement, type Part, unmarkStatement } from './job-queries.ts'
import type { JobSession } from './job-session.ts'

/** The attempts this process works on: each is marked in PostgreSQL and has a heartbeat for as long as it is held. */
export type Attempts = {
  /** Takes due jobs of a queue, or of a part of it; of large documents none of the workspaces `except`. */
  claim: <Data extends object>(
    queue: Queue<Data>,
    limit: number,
    of?: { part: Part; except: readonly string[] },
  ) => Promise<Job<Data>[]>
  /** Forgets jobs that were claimed. */
  release: (jobs: readonly Job<object>[]) => void
  /** Marks the attempts anew after the session was lost. */
  mark: () => void
  close: () => void
}

type Held = { job: Job<object>; queue: string; marked: boolean; lapsed: AbortController }

/**
 * Holds attempts by advisory locks of the session, which PostgreSQL gives back when the process dies, and by
 * heartbeats, which stop when it hangs. The `signal` of a job aborts when its attempt is somebody else's.
 */
export function openAttempts(options: {
  session: JobSession
  jobs: Jobs
  onError: (error: unknown) => void
}): Attempts {
  const { session, jobs, onError } = options
  const held = new Map<string, Held>()
  const markAgain = async () => {
    const keys = [...held].filter(([, { marked }]) => !marked).map(([key]) => key)
    if (keys.length === 0) return
    for (const { key } of await session.query<{ key: string }>(markStatement, [keys])) {
      const attempt = held.get(key)
      if (attempt !== undefined) attempt.marked = true
    }
  }
  const beat = async () => {
    await Promise.all([markAgain(), ...beats(jobs, [...held.values()])])
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
        held.set(keyOf(job), { job, queue: queue.name, marked: true, lapsed })
        return job
      })
    },
    release(ended) {
      const keys = ended.map(keyOf)
      // An attempt that was given back may be held again already.
      for (const job of ended) if (held.get(keyOf(job))?.job === job) held.delete(keyOf(job))
      // A session that is lost has no marks any more.
      session.query(unmarkStatement, [keys]).catch(() => {})
    },
    mark() {
      for (const attempt of held.values()) attempt.marked = false
      markAgain().catch(onError)
    },
    close: () => clearInterval(beating),
  }
}

function beats({ boss }: Jobs, held: readonly Held[]): Promise<void>[] {
  const alive = held.filter(({ lapsed }) => !lapsed.signal.aborted)
  return [...Map.groupBy(alive, ({ queue }) => queue)].map(async ([queue, attempts]) => {
    const jobs = attempts.map(({ job }) => job)
    const beaten = new Set(settledIds(await boss.touch(queue, jobs)))
    for (const { job, lapsed } of attempts) {
      if (!beaten.has(job.id)) lapsed.abort(new Error('another attempt has the job'))
    }
  })
}

/** The ids of the jobs that a call of pg-boss was about and that it still found; its declared type leaves them out. */
export function settledIds(response: { affected?: number }): readonly string[] {
  return (response as { settled?: string[] }).settled ?? []
}

function keyOf(attempt: Pick<Job, 'id' | 'retryCount'>): string {
  return `${attempt.id}:${attempt.retryCount}`
}
