import pLimit, { type LimitFunction } from 'p-limit'
import { Refusal } from '../errors/errors.ts'

// The writes of one user that run at a time in this process, and those that may wait. A waiting call has no connection
// to the database, and its body is not read yet.
const maxRunning = 8
const maxWaiting = 500
const patienceMs = 20_000

const limits = new Map<string, LimitFunction>()

/**
 * Runs a write of a user when fewer than `maxRunning` of that user run. Refuses with 429 `rate_limited` when too many
 * wait already or the wait takes too long. Rejects with the reason of `signal` when nobody waits for the answer.
 */
export async function oneOfParallel<T>(
  userId: string,
  { signal, work }: { signal: AbortSignal; work: () => Promise<T> },
): Promise<T> {
  signal.throwIfAborted()
  const limit = limits.get(userId) ?? pLimit(maxRunning)
  if (limit.pendingCount >= maxWaiting) throw tooManyParallel()
  limits.set(userId, limit)
  const { promise: left, reject: leave } = Promise.withResolvers<never>()
  let hasLeft = false
  const giveUp = (reason: unknown) => {
    hasLeft = true
    leave(reason)
  }
  const timer = setTimeout(() => giveUp(tooManyParallel()), patienceMs)
  const onAbort = () => giveUp(signal.reason)
  signal.addEventListener('abort', onAbort)
  const ended = limit(async () => {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
    return hasLeft ? (undefined as T) : work()
  })
  const forget = () => {
    if (limit.activeCount + limit.pendingCount === 0) limits.delete(userId)
  }
  ended.then(forget, forget)
  return Promise.race([ended, left])
}

/** The refusal 429 of surplus parallel work of one user. It asks for different pauses, so that not all come at once. */
export function tooManyParallel(): Refusal {
  const seconds = Math.random() < 0.5 ? 1 : 2
  return new Refusal('rate_limited', {
    message: 'Too many parallel requests. Send fewer at a time.',
    details: { bucket: 'concurrency', retry_after: seconds },
    headers: { 'Retry-After': String(seconds) },
  })
}
