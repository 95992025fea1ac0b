import type { Database } from '../../shared/database/database.ts'
import type { Jobs } from '../../shared/jobs/send.ts'
import type { Logger } from '../../shared/process/log.ts'
import { settledIds } from './attempts.ts'
import { activeAttempts, type Lapse, retryNow } from './job-queries.ts'

/** Looks after the running attempts of all processes, and rests while there are none. */
export type Supervision = {
  /** To be called when jobs may be running. */
  rouse: () => void
  close: () => Promise<void>
}

/** Starts at rest. While attempts run anywhere, those that nobody works on any more are handed to pg-boss as failed. */
export function openSupervision(context: { database: Database; jobs: Jobs; log: Logger }): Supervision {
  let timer: NodeJS.Timeout | undefined
  let looking: Promise<void> | undefined
  let roused = false
  let closed = false
  const look = async () => {
    roused = false
    const running = await failLapsedAttempts(context).catch((err) => {
      context.log.warn({ err }, 'supervision of jobs')
      return 0
    })
    timer = undefined
    // Who called meanwhile may know of a job that was not there yet.
    if (running > 0 || roused) rouse()
  }
  const rouse = () => {
    roused = true
    if (closed) return
    timer ??= setTimeout(() => {
      looking = look()
    }, pauseMs)
  }
  return {
    rouse,
    async close() {
      closed = true
      clearTimeout(timer)
      await looking
    },
  }
}

/**
 * Hands attempts that nobody works on any more to pg-boss as failed, so that they are retried, or dead-lettered when
 * their retries are used up. pg-boss fences off what is just being completed. Returns how many attempts are running.
 */
export async function failLapsedAttempts(context: { database: Database; jobs: Jobs; log: Logger }): Promise<number> {
  const active = await activeAttempts(context.database)
  const lapsed = active.flatMap(({ lapse, ...attempt }) => (lapse === null ? [] : [{ ...attempt, lapse }]))
  for (const attempts of Map.groupBy(lapsed, ({ queue, lapse }) => `${queue} ${lapse}`).values()) {
    const [first] = attempts
    if (first === undefined) continue
    const { queue, lapse } = first
    context.log.warn({ queue, lapse, jobs: attempts }, 'jobs whose worker gave them up')
    const ids = settledIds(await context.jobs.boss.fail(queue, attempts, { message: messages[lapse] }))
    // The pause before a retry is for what the job itself fails at.
    if (lapse === 'orphaned' && ids.length > 0) await retryNow(context.database, { queue, ids })
  }
  return active.length - lapsed.length
}

// Short enough that the work of a process that died goes on within seconds.
const pauseMs = 1000

const messages: Record<Lapse, string> = {
  orphaned: 'the worker died',
  expired: 'the job took longer than its queue allows',
  silent: 'the heartbeat of the worker is missing',
}
