import type { Database } from '../../shared/database/database.ts'
import type { Jobs } from '../../shared/jobs/send.ts'
import type { Logger } from '../../shared/process/log.ts'
import { settledIds } from './attempts.ts'
import { activeAttempts, type Lapse, retryNow } from './job-queries.ts'

/** The supervision of the running attempts of all processes. Supervision rests while no attempt runs. */
export type Supervision = {
  /** Begins to look for lapsed attempts. Must be called when jobs may be running. */
  rouse: () => void
  close: () => Promise<void>
}

/**
 * The pause, in milliseconds, before each search for lapsed attempts. When a process dies, its work should go on within
 * seconds.
 */
const pauseMs = 1000

const messages: Record<Lapse, string> = {
  orphaned: 'the worker died',
  expired: 'the job took longer than its queue allows',
  silent: 'the heartbeat of the worker is missing',
}

/**
 * Opens the supervision, which rests at first. While attempts run in any process, it looks for lapsed attempts every
 * second.
 */
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
    // A call of `rouse` meanwhile may be about a job that began after the look.
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
 * Tells pg-boss that attempts on which nobody works any more have failed. The jobs of these attempts are retried, or
 * moved to the dead-letter queue when no retries are left. An attempt that is being completed at this moment is left
 * alone. Returns how many attempts are running. @internal
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
    // The job of a process that died is retried at once. The pause before a retry is meant for jobs that fail by
    // themselves.
    if (lapse === 'orphaned' && ids.length > 0) await retryNow(context.database, { queue, ids })
  }
  return active.length - lapsed.length
}
