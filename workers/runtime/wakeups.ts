import type { Database } from '../../shared/database/database.ts'
import { queueStates } from '../../shared/jobs/reads.ts'
import type { Jobs } from '../../shared/jobs/send.ts'

/** Wakes the workers of this process for jobs that pg-boss does not announce. */
export type Wakeups = {
  /** Adds workers of a queue, by their ids in pg-boss. Returns how to remove them. */
  subscribe: (queue: string, workers: readonly string[]) => () => void
  /** Tells that jobs of a queue of this process may be running, or may become due soon. */
  rouse: () => void
  close: () => Promise<void>
}

/** The pauses between two looks, in milliseconds. */
const pauses = { atRest: 5000, whileRunning: 1000, beforeDue: 200 }

/** For how long a process looks often after work, in milliseconds: the next job of a burst is due by then. */
const aftermathMs = 1500

/**
 * pg-boss announces a job that can start at once. It announces neither jobs that are held back nor retries, and fails
 * jobs of dead workers only when it is asked to. So a statement finds the queues of this process with such jobs: five
 * times a second while a job is about to become due, once a second while jobs run in any process, and otherwise once in
 * five seconds.
 */
export function openWakeups(context: { database: Database; jobs: Jobs; onError: (error: unknown) => void }): Wakeups {
  const { database, jobs, onError } = context
  const workers = new Map<string, Set<string>>()
  let next: { timer: NodeJS.Timeout; at: number } | undefined
  let looking: Promise<void> | undefined
  let rousedUntil = 0
  let closed = false
  const look = async (): Promise<number> => {
    const queues = [...workers.keys()]
    if (queues.length === 0) return pauses.atRest
    const states = await queueStates(database, { queues, soonSeconds: pauses.atRest / 1000 })
    for (const { queue, due, lapsed } of states) {
      if (due) for (const id of workers.get(queue) ?? []) jobs.boss.notifyWorker(id)
      if (lapsed) await jobs.boss.supervise(queue)
    }
    if (states.some(({ soon, lapsed }) => soon || lapsed) || performance.now() < rousedUntil) return pauses.beforeDue
    return states.some(({ due, running }) => due || running) ? pauses.whileRunning : pauses.atRest
  }
  const run = async () => {
    next = undefined
    const pause = await look().catch((error) => {
      onError(error)
      return pauses.whileRunning
    })
    lookIn(pause)
  }
  const lookIn = (pause: number) => {
    if (closed) return
    const timer = setTimeout(() => {
      looking = run()
    }, pause)
    next = { timer, at: performance.now() + pause }
  }
  lookIn(pauses.beforeDue)
  return {
    subscribe(queue, ids) {
      const set = workers.get(queue) ?? new Set()
      workers.set(queue, set)
      for (const id of ids) set.add(id)
      return () => {
        for (const id of ids) set.delete(id)
        if (set.size === 0) workers.delete(queue)
      }
    },
    rouse() {
      rousedUntil = performance.now() + aftermathMs
      if (next === undefined || next.at < performance.now() + pauses.beforeDue) return
      clearTimeout(next.timer)
      lookIn(pauses.beforeDue)
    },
    async close() {
      closed = true
      clearTimeout(next?.timer)
      await looking
    },
  }
}
