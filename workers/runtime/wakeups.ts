import { type NextDue, nextDueStatement, type Part } from './job-queries.ts'
import type { JobSession } from './job-session.ts'

/** Wakes the takers of jobs when there may be jobs for them. */
export type Wakeups = {
  /** Calls `wake` whenever jobs of the queue, or of one part of it, may be due. Returns how to unsubscribe. */
  subscribe: (queue: string, wake: () => void, part?: Part) => () => void
  /** Takes an announcement of PostgreSQL: a queue, in how many milliseconds a job is due, and the job's part. */
  announced: (payload: string) => void
  /** Wakes every taker, since announcements may have been missed. */
  all: () => void
  close: () => Promise<void>
}

/** The interval of the statement that finds jobs with a missed announcement, and jobs that are due far ahead. */
const backstopMs = 8000

/** A job that is due later than this gets no timer, since the backstop finds the job in time. */
const horizonMs = 1.5 * backstopMs

/**
 * Timers of one queue within a tick, in milliseconds, become one timer at its end, since a job cannot be claimed before
 * it is due.
 */
const tickMs = 50
const marginMs = 5

/**
 * Wakes takers by announcements; a delayed job gets a timer. The backstop also shows whether the session still answers.
 * `onActivity` is called when jobs may be running in any process.
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

/** A subscriber and the part of the queue whose jobs it takes; all of them when undefined. */
type Waker = { wake: () => void; part: Part | undefined }

// An announcement without a part may be of a job of either part.
function isFor(part: Part | undefined, announced: string | undefined): boolean {
  return part === undefined || announced === undefined || part === announced
}
