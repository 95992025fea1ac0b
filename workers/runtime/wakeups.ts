import type { Database } from '../../shared/database/database.ts'
import { queueStates } from '../../shared/jobs/reads.ts'
import type { Jobs } from '../../shared/jobs/send.ts'

/** Wakes the workers of this process for jobs that pg-boss does not announce. */
export type Wakeups = {
  /** Adds workers of a queue, by their ids in pg-boss. Returns how to remove them. */
  subscribe: (queue: string, workers: readonly string[]) => () => void
  /** Tells that jobs of this process have begun or ended, so that jobs may become due soon. */
  rouse: () => void
  close: () => Promise<void>
}

/** The pauses between two looks, in milliseconds. */
const pauses = { atRest: 5000, whileRunning: 1000, beforeDue: 200 }

/** For how long a process looks often after work, in milliseconds: the next job of a burst is due by then. */
const aftermathMs = 1500

/**
 * pg-boss announces a job that can start at once, but neither jobs that are held back nor retries, and it fails the
 * jobs of dead workers only when it is asked to. So one statement asks for all queues of this process: often while a
 * job is about to become due, once a second while jobs run in any process, otherwise once in five seconds.
 */
export function openWakeups(context: { database: Database; jobs: Jobs; onError: (error: unknown) => void }): Wakeups {
  const { database, jobs, onError } = context
  const workers = new Map<string, readonly string[]>()
  let timer: NodeJS.Timeout | undefined
  let looking: Promise<void> = Promise.resolve()
  let rousedUntil = 0
  let closed = false
  const look = async (): Promise<number> => {
    const states = await queueStates(database, { queues: [...workers.keys()], soonSeconds: pauses.atRest / 1000 })
    for (const { queue, due, lapsed } of states) {
      if (due) for (const id of workers.get(queue) ?? []) jobs.boss.notifyWorker(id)
      if (lapsed) await jobs.boss.supervise(queue)
    }
    if (states.some(({ soon, lapsed }) => soon || lapsed) || performance.now() < rousedUntil) return pauses.beforeDue
    return states.some(({ due, running }) => due || running) ? pauses.whileRunning : pauses.atRest
  }
  const lookIn = (pause: number) => {
    clearTimeout(timer)
    if (closed) return
    timer = setTimeout(() => {
      looking = look()
        .catch((error) => {
          onError(error)
          return pauses.whileRunning
        })
        .then(lookIn)
    }, pause)
  }
  lookIn(pauses.beforeDue)
  return {
    subscribe(queue, ids) {
      workers.set(queue, ids)
      return () => workers.delete(queue)
    },
    rouse() {
      const isRoused = performance.now() < rousedUntil
      rousedUntil = performance.now() + aftermathMs
      if (!isRoused) lookIn(pauses.beforeDue)
    },
    async close() {
      closed = true
      clearTimeout(timer)
      await looking
    },
  }
}
