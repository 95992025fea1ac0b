import type { PgBoss } from 'pg-boss'
import type { Queryable } from '../../shared/database/database.ts'
import { queueStates } from '../../shared/jobs/reads.ts'

/** The pauses between two looks, in milliseconds. A process is busy while jobs run in any process or are due soon. */
const [restMs, busyMs] = [5000, 500]

/**
 * For how long a process counts as busy after work, in milliseconds. By then the next job of a burst has come. pg-boss
 * tells of work at most once in two seconds.
 */
const aftermathMs = 3000

/**
 * Wakes the workers of this process for jobs that pg-boss does not announce: jobs that are held back, and retries. Asks
 * pg-boss to fail the jobs of dead workers. One statement asks for all queues of the process.
 */
export function openWakeups(context: { database: Queryable; boss: PgBoss; onError: (error: unknown) => void }) {
  const { database, boss, onError } = context
  let timer: NodeJS.Timeout | undefined
  let looking: Promise<void> = Promise.resolve()
  let busyUntil = 0
  let closed = false
  const look = async (): Promise<void> => {
    const workers = boss.getWipData()
    const queues = [...new Set(workers.map(({ name }) => name))]
    for (const { queue, due, busy, lapsed } of await queueStates(database, { queues, soonSeconds: restMs / 1000 })) {
      if (busy) stayBusy()
      if (due) for (const { name, id } of workers) if (name === queue) boss.notifyWorker(id)
      if (lapsed) await boss.supervise(queue)
    }
  }
  const stayBusy = () => {
    busyUntil = performance.now() + aftermathMs
  }
  const lookIn = (pause: number) => {
    clearTimeout(timer)
    if (closed) return
    timer = setTimeout(() => {
      looking = look()
        .catch((error) => {
          stayBusy()
          onError(error)
        })
        .then(() => lookIn(performance.now() < busyUntil ? busyMs : restMs))
    }, pause)
  }
  boss.on('wip', () => {
    if (performance.now() >= busyUntil) lookIn(busyMs)
    stayBusy()
  })
  lookIn(busyMs)
  return {
    async close(): Promise<void> {
      closed = true
      clearTimeout(timer)
      await looking
    },
  }
}
