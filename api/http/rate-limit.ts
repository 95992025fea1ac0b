import { RateLimiterMemory, RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible'
import type { Config } from '../../shared/config/config.ts'
import { type Database, foreignStatements } from '../../shared/database/database.ts'
import { Refusal } from '../../shared/errors/errors.ts'
import type { Logger } from '../../shared/process/log.ts'

// The number of shares into which a large limit is divided. A process takes a share of calls from the table at once, so
// that not every call costs a write. With a write each, a GET of a small document takes 1.4 times the processor time:
// 4.2 ms in place of 2.9 ms, PostgreSQL included.
const sharesPerWindow = 50
// The largest number of shares that a process remembers, so that very many callers cannot fill its memory. Beyond this
// number, the process forgets all shares. Forgetting costs only further questions to the table.
const keptShares = 100_000

/** The kinds of calls with a limit of their own (api/guide/limits.md#rates). A call counts in exactly one bucket. */
export type Bucket = 'read' | 'write' | 'search' | 'job' | 'ip' | 'share'

/** The values of the `X-RateLimit-*` headers: calls granted and left in the window, and the seconds until it ends. */
export type RateLimitState = { limit: number; remaining: number; reset: number }

/** A counter that bounds how many calls a credential, a user or an address can make in a minute. */
export type RateLimiter = {
  /**
   * Counts one call of `key`, a credential or an address. With `userId`, the call also counts for all tokens of the
   * user together. Returns the state of the window, of the key or of the user, that has fewer calls left. Returns null
   * when the bucket is unlimited. Refuses with 429 `rate_limited` and Retry-After beyond one of the two limits.
   */
  consume: (bucket: Bucket, key: string, userId?: string) => Promise<RateLimitState | null>
}

/**
 * Creates the rate limiter. Windows of 60 s are counted in PostgreSQL, so all processes share them, and they outlive
 * restarts. A process takes several calls of a large window at once (a share), so that not every read causes a write.
 */
export function createRateLimiter(context: { database: Database; config: Config; log: Logger }): RateLimiter {
  const { config, database, log } = context
  const limits: Record<Bucket, number> = {
    read: config.RATE_READ_PER_MIN,
    write: config.RATE_WRITE_PER_MIN,
    search: config.RATE_SEARCH_PER_MIN,
    job: config.RATE_JOB_PER_MIN,
    ip: config.RATE_IP_PER_MIN,
    share: config.RATE_SHARE_PER_MIN,
  }
  const windowOf = (prefix: string, points: number) =>
    points > 0 ? new Window(storedWindows({ database, log, prefix, points, remembersFull: true })) : null
  const buckets = Object.entries(limits)
  const windows = new Map(buckets.map(([bucket, limit]) => [bucket, windowOf(bucket, limit)]))
  const userWindows = new Map(
    buckets.map(([bucket, limit]) => [bucket, windowOf(`user-${bucket}`, limit * config.RATE_USER_FACTOR)]),
  )
  return {
    async consume(bucket, key, userId) {
      const state = await counted(bucket, windows.get(bucket)?.count(key))
      if (state === null || userId === undefined) return state
      const ofUser = await counted(bucket, userWindows.get(bucket)?.count(userId))
      return ofUser !== null && ofUser.remaining < state.remaining ? ofUser : state
    },
  }
}

async function counted(bucket: Bucket, call: Promise<Counted> | undefined): Promise<RateLimitState | null> {
  if (call === undefined) return null
  const { state, allowed } = await call
  if (allowed) return state
  throw new Refusal('rate_limited', {
    details: { bucket, retry_after: state.reset },
    headers: { 'Retry-After': String(state.reset), ...rateLimitHeaders(state) },
  })
}

/** The names of the headers of `rateLimitHeaders`. */
export const rateLimitHeaderNames = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'] as const

/** The response headers that tell a state to the client. */
export function rateLimitHeaders(state: RateLimitState): Record<string, string> {
  return {
    'X-RateLimit-Limit': String(state.limit),
    'X-RateLimit-Remaining': String(state.remaining),
    'X-RateLimit-Reset': String(state.reset),
  }
}

/**
 * Makes fixed windows of rate-limiter-flexible, stored in the table `rate_limit_windows`. Each key has `points` calls
 * in `seconds` (60 by default). With `remembersFull` a process refuses a key over its limit until the window ends,
 * without asking the table again. While the table takes no writes, each process counts in memory, so reads are still
 * served within limits.
 */
export function storedWindows(options: {
  database: Database
  log: Logger
  prefix: string
  points: number
  seconds?: number
  remembersFull?: boolean
}): RateLimiterPostgres {
  const statements = foreignStatements(options.database)
  const { prefix: keyPrefix, points, seconds: duration = 60 } = options
  return new RateLimiterPostgres({
    insuranceLimiter: new RateLimiterMemory({ keyPrefix, points, duration }),
    storeClient: {
      query: async (query: { text: string; values?: unknown[] }) => {
        try {
          const { rows } = await statements.executeSql(query.text, query.values)
          return { rows, rowCount: rows.length }
        } catch (err) {
          options.log.warn({ err, prefix: keyPrefix }, 'rate limits are counted in memory')
          throw err
        }
      },
    },
    storeType: 'client',
    tableName: 'rate_limit_windows',
    tableCreated: true,
    clearExpiredByTimeout: false,
    keyPrefix,
    points,
    // A caller over its limit costs no more writes until the window ends.
    ...(options.remembersFull && { inMemoryBlockOnConsumed: points + 1 }),
    duration,
  })
}

type Counted = { state: RateLimitState; allowed: boolean }

/**
 * A share of a window that this process took. `left` calls are left in the share. `remaining` calls were left to all
 * processes when the share was taken. The window ends at `endsAt`, in Unix milliseconds.
 */
type Share = { left: number; remaining: number; endsAt: number }

// The number of calls in a share: a fiftieth of the window while at least two such shares are left. After that, calls
// are taken one by one, so that no granted call stays unused.
function shareSize(limit: number, remaining: number): number {
  const size = Math.floor(limit / sharesPerWindow)
  return remaining < 2 * size ? 1 : Math.max(1, size)
}

class Window {
  readonly #limiter: RateLimiterPostgres
  readonly #shares = new Map<string, Share>()
  readonly #taking = new Map<string, Promise<void>>()

  constructor(limiter: RateLimiterPostgres) {
    this.#limiter = limiter
  }

  async count(key: string): Promise<Counted> {
    for (;;) {
      const share = this.#shares.get(key)
      if (share !== undefined && share.left > 0 && share.endsAt > Date.now()) {
        share.left -= 1
        return { state: this.#stateOf(share), allowed: true }
      }
      const taking = this.#taking.get(key)
      if (taking === undefined) return this.#takeAlone(key, share)
      await taking
    }
  }

  // One share of a key is taken at a time. Otherwise calls that arrive together would each take a share, and most of
  // the window would stay unused.
  async #takeAlone(key: string, known: Share | undefined): Promise<Counted> {
    const taking = this.#take(key, known)
    const settled = taking.then(
      () => {},
      () => {},
    )
    this.#taking.set(key, settled)
    try {
      return await taking
    } finally {
      this.#taking.delete(key)
    }
  }

  async #take(key: string, known: Share | undefined): Promise<Counted> {
    const size = shareSize(this.#limiter.points, await this.#remaining(key, known))
    const { result, allowed } = await consume(this.#limiter, { key, size })
    const share = {
      left: allowed ? size - 1 : 0,
      remaining: Math.max(0, result.remainingPoints),
      endsAt: Date.now() + result.msBeforeNext,
    }
    if (this.#shares.size > keptShares) this.#shares.clear()
    this.#shares.set(key, share)
    return { state: this.#stateOf(share), allowed }
  }

  // Returns how many calls are left in a window. If this process has taken no share of the window, the table is asked,
  // because other processes may have used calls.
  async #remaining(key: string, known: Share | undefined): Promise<number> {
    if (known !== undefined && known.endsAt > Date.now()) return known.remaining
    return (await this.#limiter.get(key))?.remainingPoints ?? this.#limiter.points
  }

  #stateOf({ left, remaining, endsAt }: Share): RateLimitState {
    const reset = Math.min(60, Math.max(1, Math.ceil((endsAt - Date.now()) / 1000)))
    return { limit: this.#limiter.points, remaining: remaining + left, reset }
  }
}

async function consume(limiter: RateLimiterPostgres, { key, size }: { key: string; size: number }) {
  try {
    return { result: await limiter.consume(key, size), allowed: true }
  } catch (rejected) {
    // The library rejects with a plain result when the limit is exceeded, and with an Error when the store failed.
    if (!(rejected instanceof RateLimiterRes)) throw rejected
    return { result: rejected, allowed: false }
  }
}
