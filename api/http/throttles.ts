import { RateLimiterRes } from 'rate-limiter-flexible'
import type { Database } from '../../shared/database/database.ts'
import { Refusal } from '../../shared/errors/errors.ts'
import type { Logger } from '../../shared/process/log.ts'
import { storedWindows } from './rate-limit.ts'

/** How many wrong guesses each of these may make, in how many seconds. */
const limits = {
  /** One account from one address. */
  'sign-in': { points: 10, seconds: 900 },
  /** Any accounts from one address. */
  'sign-in-address': { points: 100, seconds: 900 },
  /** One account from wherever, but for browsers that have signed in to it before. */
  'sign-in-account': { points: 100, seconds: 3600 },
  /** One account from a browser that has signed in to it before. */
  'sign-in-known': { points: 10, seconds: 900 },
  /** Codes of devices, tried by one user and from one address. */
  'user-code': { points: 10, seconds: 900 },
  'user-code-address': { points: 30, seconds: 900 },
} as const

export type ThrottleName = keyof typeof limits

/** Guesses of somebody: which throttles they run into, each under its key. */
export type Guesses = Partial<Record<ThrottleName, string>>

export type Throttles = {
  /**
   * Makes a guess: counts it first, since many can be made at once, and takes it back when it was right, that is when
   * `guess` returns something. 429 `rate_limited` when there have been too many wrong ones.
   */
  guess: <T>(guesses: Guesses, guess: () => Promise<T | null>) => Promise<T | null>
}

/** Counts wrong guesses in windows that all processes share and that survive restarts. */
export function createThrottles(context: { database: Database; log: Logger }): Throttles {
  const windows = new Map(
    Object.entries(limits).map(([prefix, limit]) => [prefix, storedWindows({ ...context, prefix, ...limit })]),
  )
  const each = (guesses: Guesses) =>
    Object.entries(guesses).flatMap(([name, key]) => {
      const window = windows.get(name)
      return window === undefined ? [] : [{ window, key }]
    })
  return {
    async guess(guesses, guess) {
      for (const { window, key } of each(guesses)) {
        await window.consume(key).catch((rejected: unknown) => {
          throw rejected instanceof RateLimiterRes ? tooMany(rejected) : rejected
        })
      }
      const result = await guess()
      if (result !== null) await Promise.all(each(guesses).map(({ window, key }) => window.reward(key)))
      return result
    },
  }
}

function tooMany({ msBeforeNext }: RateLimiterRes): Refusal {
  const seconds = Math.max(1, Math.ceil(msBeforeNext / 1000))
  return new Refusal('rate_limited', {
    details: { bucket: 'ip', retry_after: seconds },
    headers: { 'Retry-After': String(seconds) },
  })
}
