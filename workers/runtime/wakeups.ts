import { type NextDue, nextDueStatement, type Part } from './job-queries.ts'
import type { JobSession } from './job-session.ts'

/** Wakes the takers of jobs when there may be jobs for them. */
export type Wakeups = {
  /** Calls `wake` whenever jobs of the queue, or of one part of it, may be due. Returns how to unsubscribe. */
  subscribe: (queue: string, wake: () => void, part?: Part) => () => void
  /**
   * Takes the payload of an announcement of PostgreSQL: a queue, the milliseconds until a job is due, and the part of
   * the job.
   */
  announced: (payload: string) => void
  /** Wakes every taker, since announcements may have been missed. */
  all: () => void
  close: () => Promise<void>
}

/**
 * The interval, in milliseconds, of the backstop: a statement that finds jobs whose announcement was missed, and jobs
 * that are due far ahead.
 */
const backstopMs = 8000

/**
 * The longest time, in milliseconds, for which a job gets a timer. A job that is due later needs no timer, because the
 * backstop finds the job before it is due.
 */
const horizonMs = 1.5 * backstopMs

/**
 * The length of a tick in milliseconds. All delayed jobs of a queue that become due in one tick share a timer. The
 * timer rings after the end of the tick, since no job can be claimed before it is due.
 */
const tickMs = 50
const marginMs = 5

/**
 * Wakes takers by announcements; a delayed job gets a timer. The statement that runs every `backstopMs` also shows
 * whether the session still answers. `onActivity` is called when jobs may be running in any process.
 */
export function openWakeups(options: {
  session: () => JobSession
  onActivity: () => void
  onError: (error: unknown) => void
}): Wakeups {
  const { session, onActivity, onError } = options
  const wakers = new Map<string, Set<Waker>>()
  const alarms = new Map<string, NodeJS.Timeout>()
  let asking: Promise<void> | undefined

  const wake = (queue: string, announced?: string) => {
    for (const { part, wake } of wakers.get(queue) ?? []) if (isFor(part, announced)) wake()
    onActivity()
  }
  const wakeIn = (queue: string, milliseconds: number, part?: string) => {
    if (!wakers.has(queue) || milliseconds > horizonMs) return
    if (milliseconds <= 0) return wake(queue, part)
    const now = Date.now()
    const tick = Math.ceil((now + milliseconds) / tickMs)
    const key = `${queue} ${part} ${tick}`
    if (alarms.has(key)) return
    const ring = () => {
      alarms.delete(key)
      wake(queue, part)
    }
    alarms.set(key, setTimeout(ring, tick * tickMs - now + marginMs))
  }
  const ask = async () => {
    const names = [...wakers.keys()]
    if (names.length === 0) return
    for (const { name, milliseconds, running } of await session().query<NextDue>(nextDueStatement, [names])) {
      if (milliseconds !== null) wakeIn(name, milliseconds)
      if (running) onActivity()
    }
  }
  const backstop = setInterval(() => {
    asking = ask().catch(onError)
  }, backstopMs)
  return {
    subscribe(queue, wake, part) {
      const waker = { wake, part }
      const set = wakers.get(queue) ?? new Set()
      wakers.set(queue, set.add(waker))
      return () => {
        set.delete(waker)
        if (set.size === 0) wakers.delete(queue)
      }
    },
    announced(payload) {
      const [queue = '', milliseconds = '', part] = payload.split(' ')
      wakeIn(queue, Number(milliseconds), part)
    },
    all() {
      for (const queue of wakers.keys()) wake(queue)
      asking = ask().catch(onError)
    },
    async close() {
      clearInterval(backstop)
      for (const alarm of alarms.values()) clearTimeout(alarm)
      await asking
    },
  }
}

/** A subscriber, and the part of the queue whose jobs it takes; undefined means the whole queue. */
type Waker = { wake: () => void; part: Part | undefined }

// An announcement that names no part of the queue may be about a job of either part.
function isFor(part: Part | undefined, announced: string | undefined): boolean {
  return part === undefined || announced === undefined || part === announced
}
