import { isDeepStrictEqual } from 'node:util'
import { Refusal } from '../errors/errors.ts'
import { type Compute, compute, withinTurn } from './compute.ts'

/** An object that gives a transaction the outputs of computations, although the transaction holds locks. */
export type Ahead = {
  /** Resolves to the output of a computation. Rejects as `compute`. */
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

// How many times a result is prepared again because what it follows from has moved meanwhile.
const maxMoves = 2

/**
 * Runs a transaction that computes nothing long while it holds locks. Where it asks for a large result that is not
 * prepared, it rolls back, and the result is prepared outside. Then the transaction locks and checks everything again.
 * It goes on if the result follows from the same input. Otherwise the result is prepared again, twice at most.
 *
 * After that, and when the transaction asks for several large results of one computation, it takes a turn before its
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
        const { prepare, isOneOfMany, hasMoved } = error.missing
        if (hasMoved) moves += 1
        if (isOneOfMany || moves > maxMoves) break
        // Whatever fails is thrown where the transaction asks again. So the checks keep their order.
        await prepare().catch(() => {})
      }
    }
    return await withinTurn((computeNow) => transaction(prepared.ahead(computeNow, { isLocked: true })))
  } finally {
    await prepared.release()
  }
}

/** A result that a transaction asks for: its name or computation, what it follows from, and how it is made. */
type Wanted<T> = { key: unknown; input: unknown; isSmall: boolean; make: () => Promise<T> }

/** The latest result of each computation and acquisition, for all runs of a transaction. */
class Prepared {
  readonly #results = new Map<unknown, { input: unknown; output: Promise<unknown> }>()
  readonly #releases: (() => Promise<void>)[] = []

  /** The `Ahead` of one run. A large result that is missing is made under the locks, or else ends the run. */
  ahead(compute: Compute, { isLocked }: { isLocked: boolean }): Ahead {
    const asked = new Set<unknown>()
    const get = async <T>({ key, input, isSmall, make }: Wanted<T>): Promise<T> => {
      const isOneOfMany = asked.has(key)
      asked.add(key)
      const latest = this.#results.get(key)
      if (latest !== undefined && isDeepStrictEqual(latest.input, input)) return latest.output as Promise<T>
      const prepare = () => {
        const output = make()
        this.#results.set(key, { input, output })
        return output
      }
      // A small result is kept, too. It may have new ids, and a large result may follow from them.
      if (isSmall || isLocked) return prepare()
      throw new NotPrepared({ prepare, isOneOfMany, hasMoved: latest !== undefined })
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

type Missing = { prepare: () => Promise<unknown>; isOneOfMany: boolean; hasMoved: boolean }

/** Ends a run that lacks a result. As a refusal it rolls the transaction back without losing the connection. */
class NotPrepared extends Refusal {
  readonly missing: Missing

  constructor(missing: Missing) {
    super('service_unavailable', { headers: { 'Retry-After': '1' } })
    this.missing = missing
  }
}
