import { type NextDue, nextDueStatement } from './job-queries.ts'
import type { JobSession } from './job-session.ts'

/** Wakes those who take jobs when there may be some. */
export type Wakeups = {
  /** Has `wake` called whenever jobs of the queue become due; returns how to end that. */
  subscribe: (queue: string, wake: () => void) => () => void
  /** What PostgreSQL announces: a queue and in how many milliseconds a job of it is due. */
  announced: (payload: string) => void
  /** Wakes everybody: announcements may have been missed. */
  all: () => void
  close: () => Promise<void>
}

/**
 * Wakes by what is announced; a delayed job gets a timer. Every eight seconds one statement asks for what was missed,
 * and for jobs that are due far ahead; it also shows whether the session still hears anything. `onActivity` is called
 * when jobs may be running somewhere.
 */
export function openWakeups(options: {
  session: () => JobSession
  onActivity: () => void
  onError: (error: unknown) => void
}): Wakeups {
  const { session, onActivity, onError } = options
  const wakers = new Map<string, Set<() => void>>()
  const alarms = new Map<string, NodeJS.Timeout>()
  let asking: Promise<void> | undefined

  const wake = (queue: string) => {
    for (const waker of wakers.get(queue) ?? []) waker()
    onActivity()
  }
  const wakeIn = (queue: string, milliseconds: number) => {
    if (!wakers.has(queue) || milliseconds > horizonMs) return
    if (milliseconds <= 0) return wake(queue)
    const now = Date.now()
    const tick = Math.ceil((now + milliseconds) / tickMs)
    const key = `${queue} ${tick}`
    if (alarms.has(key)) return
    const ring = () => {
      alarms.delete(key)
      wake(queue)
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
    subscribe(queue, waker) {
      const set = wakers.get(queue) ?? new Set()
      wakers.set(queue, set.add(waker))
      return () => {
        set.delete(waker)
        if (set.size === 0) wakers.delete(queue)
      }
    },
    announced(payload) {
      const [queue = '', milliseconds = ''] = payload.split(' ')
      wakeIn(queue, Number(milliseconds))
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

const backstopMs = 8000
// What is due later is found by the question before.
const horizonMs = 1.5 * backstopMs
// Alarms of one queue that fall between two ticks are one, at the later tick: a job that is not due yet is not taken.
const tickMs = 50
const marginMs = 5
