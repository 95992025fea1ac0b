import { isDeepStrictEqual } from 'node:util'
import { Refusal } from '../errors/errors.ts'
import { ComputationLimitError } from './computation.ts'
import { type Compute, compute, withinTurn } from './compute.ts'

/** An object that gives a transaction the outputs of computations, although the transaction holds locks. */
export type Ahead = {
  /** Resolves to the output of a computation. Rejects with the error of its function or with ComputationLimitError. */
  result: Compute
  /** Resolves to what an acquisition has acquired. Rejects with the error of `acquire`. */
  acquired: <T>(acquisition: Acquisition<T>) => Promise<T>
}

/**
 * A slow effect outside the database which a transaction needs, such as copies of files. `acquire` runs while no lock
 * is held. It runs again when the transaction asks by the same `name` with another `input`. `release` removes what the
 * transaction has not kept. It is called for each acquisition once the transaction has ended, in success or failure.
 */
export type Acquisition<T> = {
  name: string
  input: unknown
  acquire: () => Promise<T>
  release: (acquired: T) => Promise<void>
}

/** An `Ahead` that computes immediately, for code that holds no locks. */
export const onTheSpot: Ahead = {
  result: async (computation, input) => computation.run(input),
  acquired: ({ acquire }) => acquire(),
}

// How many times something is prepared again because its input has changed meanwhile.
const maxMoves = 2

/**
 * Runs a transaction that computes nothing long while it holds locks. Where it asks for a large output that is not
 * prepared, it rolls back. The output is prepared outside, and the transaction locks and checks everything again. It
 * goes on if the input is still the same, otherwise the output is prepared again, twice at most.
 *
 * After that, and when the transaction asks for several large outputs of one computation, it takes a turn before its
 * locks, and computes in threads while it holds them. Rejects with 503 `service_unavailable` when a computation would
 * hold the locks for too long.
 *
 * `transaction` must have no effect outside the database, except by `acquired`.
 */
export async function computingAhead<T>(transaction: (ahead: Ahead) => Promise<T>): Promise<T> {
  const prepared = new Prepared()
  try {
    for (let moves = 0; ; ) {
      try {
        return await transaction(prepared.ahead(compute, { isLocked: false }))
      } catch (error) {
        if (!(error instanceof NotPrepared)) throw error
        if (error.hasMoved) moves += 1
        if (error.isOneOfMany || moves > maxMoves) break
        await error.prepare()
      }
    }
    return await withinTurn((computeNow) => transaction(prepared.ahead(computeNow, { isLocked: true })))
  } finally {
    await prepared.release()
  }
}

/** What a transaction asks for: what it is kept under, what it follows from, and how it is made. */
type Wanted<T> = { key: unknown; input: unknown; isSmall: boolean; make: () => Promise<T> }

/** The latest output of each computation and acquisition, with its input, for all runs of a transaction. */
class Prepared {
  readonly #kept = new Map<unknown, { input: unknown; output: () => unknown }>()
  readonly #releases: (() => Promise<void>)[] = []

  /** The `Ahead` of one run. Where something large is missing, it is made under the locks or the run ends. */
  ahead(compute: Compute, { isLocked }: { isLocked: boolean }): Ahead {
    const asked = new Set<unknown>()
    const get = async <T>({ key, input, isSmall, make }: Wanted<T>): Promise<T> => {
      const isOneOfMany = asked.has(key)
      asked.add(key)
      const kept = this.#kept.get(key)
      if (kept !== undefined && isDeepStrictEqual(kept.input, input)) return kept.output() as T
      const prepare = async () => void this.#kept.set(key, { input, output: await settled(make()) })
      if (!isSmall && !isLocked) throw new NotPrepared({ prepare, isOneOfMany, hasMoved: kept !== undefined })
      // A small output is kept too: it may have new ids, from which a large output follows.
      const output = await make()
      if (isSmall) this.#kept.set(key, { input, output: () => output })
      return output
    }
    return {
      result: (computation, input) => {
        const make = () => compute(computation, input)
        return get({ key: computation, input, isSmall: computation.isSmall(input), make })
      },
      acquired: ({ name, input, acquire, release }) => {
        const make = async () => {
          const acquired = await acquire()
          this.#releases.push(() => release(acquired))
          return acquired
        }
        return get({ key: name, input, isSmall: false, make })
      },
    }
  }

  /** Releases what was acquired. A failure hides nothing: the owner of the effect has another way to remove it. */
  async release(): Promise<void> {
    for (const release of this.#releases) await release().catch(() => {})
  }
}

/** Something is missing. It is a refusal, so that the transaction rolls back without losing its connection. */
class NotPrepared extends Refusal {
  readonly prepare: () => Promise<void>
  readonly isOneOfMany: boolean
  readonly hasMoved: boolean

  constructor(missing: { prepare: () => Promise<void>; isOneOfMany: boolean; hasMoved: boolean }) {
    super('service_unavailable', { headers: { 'Retry-After': '1' } })
    this.prepare = missing.prepare
    this.isOneOfMany = missing.isOneOfMany
    this.hasMoved = missing.hasMoved
  }
}

// A refusal of the input is thrown when the transaction runs again and asks for the output. So the checks keep their
// order.
async function settled<T>(result: Promise<T>): Promise<() => T> {
  try {
    const value = await result
    return () => value
  } catch (error) {
    if (!(error instanceof Refusal || error instanceof ComputationLimitError)) throw error
    return () => {
      throw error
    }
  }
}
