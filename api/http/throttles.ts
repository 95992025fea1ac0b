import { RateLimiterRes } from 'rate-limiter-flexible'
import type { Database } from '../../shared/database/database.ts'
import { Refusal } from '../../shared/errors/errors.ts'
import type { Logger } from '../../shared/process/log.ts'
import { storedWindows } from './rate-limit.ts'

// The limits of wrong guesses and registrations. Each limit counts its own keys, such as addresses: a key has `points`
// guesses in a window of `seconds`.
const limits = {
  // One account from one address.
  'sign-in': { points: 10, seconds: 900 },
  // All accounts from one address.
  'sign-in-address': { points: 100, seconds: 900 },
  // One account from all addresses, except browsers that have signed in to the account before.
  'sign-in-account': { points: 100, seconds: 3600 },
  // One account from a browser that has signed in to the account before.
  'sign-in-known': { points: 10, seconds: 900 },
  // Guesses of device codes by one user, and from one address.
  'user-code': { points: 10, seconds: 900 },
  'user-code-address': { points: 30, seconds: 900 },
  // The password of one shared document from one address.
  'share-password': { points: 10, seconds: 60 },
  // Programs that register for OAuth from one address. Some programs register again for each of their users.
  'oauth-registration': { points: 60, seconds: 3600 },
} as const

/** Name of a limit on guesses. */
export type ThrottleName = keyof typeof limits

/**
 * A choice of the limits that a guess counts against, each with the key (such as an address) for which the guess
 * counts.
 */
export type Guesses = Partial<Record<ThrottleName, string>>

/** A set of limits that bound how often passwords and codes can be guessed, and how often programs can register. */
export type Throttles = {
  /** Counts one attempt of a key, whatever becomes of it. Refuses with 429 `rate_limited` after too many. */
  count: (name: ThrottleName, key: string) => Promise<void>
  /**
   * Runs `guess`, which returns a value when the guess was right. A guess is counted before it runs, because many
   * guesses can run at once. A right guess is taken off the count afterwards, as is a guess that could not be checked.
   * Refuses with 429 `rate_limited` after too many wrong guesses.
   */
  guess: <T>(guesses: Guesses, guess: () => Promise<T | null>) => Promise<T | null>
}

/**
 * Creates the throttles. Throttles count wrong guesses in windows that all processes share and that survive restarts.
 */
export function createThrottles(context: { database: Database; log: Logger }): Throttles {
  const windows = new Map(
    Object.entries(limits).map(([prefix, limit]) => [prefix, storedWindows({ ...context, prefix, ...limit })]),
  )
  const each = (guesses: Guesses) =>
    Object.entries(guesses).flatMap(([name, key]) => {
      const window = windows.get(name)
      return window === undefined ? [] : [{ window, key }]
    })
  const count = async (guesses: Guesses) => {
    for (const { window, key } of each(guesses)) {
      await window.consume(key).catch((rejected: unknown) => {
        throw rejected instanceof RateLimiterRes ? tooManyCalls(rejected.msBeforeNext / 1000) : rejected
      })
    }
  }
  return {
    count: (name, key) => count({ [name]: key }),
    async guess(guesses, guess) {
      await count(guesses)
      const takeOff = () => Promise.all(each(guesses).map(({ window, key }) => window.reward(key)))
      const result = await guess().catch(async (failure: unknown) => {
        await takeOff()
        throw failure
      })
      if (result !== null) await takeOff()
      return result
    },
  }
}

/** The refusal 429 `rate_limited` of a caller who shows no bearer token and has to wait for a number of seconds. */
export function tooManyCalls(secondsToWait: number): Refusal {
  const seconds = Math.max(1, Math.ceil(secondsToWait))
  return new Refusal('rate_limited', {
    details: { bucket: 'ip', retry_after: seconds },
    headers: { 'Retry-After': String(seconds) },
  })
}
