import { isDeepStrictEqual } from 'node:util'
import { Refusal } from '../errors/errors.ts'
import { type Computation, ComputationLimitError } from './computation.ts'
import { type Compute, compute, withinTurn } from './compute.ts'

/** An object that gives a transaction the outputs of computations, although the transaction holds locks. */
export type Ahead = {
  /** Resolves to the output of a computation. Rejects with the error of its function or with ComputationLimitError. */
  result: Compute
  /**
   * An `Ahead` for a transaction that needs the outputs of one computation for many inputs, such as the bodies of a
   * folder.
   */
  ofMany: Ahead
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
  get ofMany() {
    return onTheSpot
  },
  acquired: ({ acquire }) => acquire(),
}

/**
 * Runs a transaction that never waits for a turn while it holds locks or a connection. So nobody else waits for that
 * turn, and no circle of waits can arise.
 *
 * Where the output of a large computation is missing, the transaction rolls back. The output is computed without locks,
 * and the transaction runs again with all its locks and checks. When an input has changed by then, its output is
 * computed anew. Of each computation only the latest output is kept, so a transaction may ask for one output of each
 * computation. Outputs of small computations are kept, too. Otherwise a small computation would give new blocks other
 * ids each time. A large computation over these blocks would then never find its output.
 *
 * A transaction that has rolled back nine times takes a turn before its locks. So does a transaction that asks `ofMany`
 * for a large output. Within its turn the transaction computes in threads while it holds its locks, and comes through.
 * Rejects with 503 `service_unavailable` when such a computation would hold the locks for too long.
 *
 * `transaction` must have no effect outside the database, except by `acquired`.
 */
export async function computingAhead<T>(transaction: (ahead: Ahead) => Promise<T>): Promise<T> {
  const known: Known = { outcomes: new Map(), releases: [] }
  try {
    return await inRounds(transaction, known)
  } finally {
    // A failed release must not hide the end of the transaction. The owner of the effect has another way to remove it.
    for (const release of known.releases) await release().catch(() => {})
  }
}

async function inRounds<T>(transaction: (ahead: Ahead) => Promise<T>, known: Known): Promise<T> {
  for (let round = 1; round <= roundsAhead; round += 1) {
    try {
      return await transaction(aheadOfLocks(known))
    } catch (error) {
      if (error instanceof TurnNeeded) break
      if (!(error instanceof NotComputed)) throw error
      await error.compute()
    }
  }
  return withinTurn((computeNow) => transaction(underLocks(known, computeNow)))
}

// How many times a transaction runs before it takes a turn. A large write runs three or four times. A write runs more
// often when other writes change its input in between.
const roundsAhead = 9

type Outcome = { input: unknown; output: () => unknown }

/** The latest outcome of each computation and acquisition, and what is to be released in the end. */
type Known = { outcomes: Map<unknown, Outcome>; releases: (() => Promise<void>)[] }

function aheadOfLocks(known: Known): Ahead {
  return {
    result: async (computation, input) =>
      knownOrSmall(known, { computation, input }, () => {
        throw new NotComputed(async () => {
          known.outcomes.set(computation, { input, output: await settled(compute(computation, input)) })
        })
      }),
    ofMany: sourceOfMany(known, (computation) => {
      throw new TurnNeeded(computation.name)
    }),
    acquired: async (acquisition) =>
      knownOrAcquired(known, acquisition, () => {
        throw new NotComputed(async () => {
          const { name, input } = acquisition
          known.outcomes.set(name, { input, output: await settled(acquire(known, acquisition)) })
        })
      }),
  }
}

function underLocks(known: Known, computeNow: Compute): Ahead {
  return {
    result: async (computation, input) =>
      knownOrSmall(known, { computation, input }, () => computeNow(computation, input)),
    ofMany: sourceOfMany(known, computeNow),
    acquired: (acquisition) => knownOrAcquired(known, acquisition, () => acquire(known, acquisition)),
  }
}

// Returns an `Ahead` that keeps no outputs, because many large outputs would fill the memory.
function sourceOfMany(known: Known, large: Compute): Ahead {
  const source: Ahead = {
    result: async (computation, input) =>
      computation.isSmall(input) ? computation.run(input) : large(computation, input),
    get ofMany() {
      return source
    },
    acquired: (acquisition) => knownOrAcquired(known, acquisition, () => acquire(known, acquisition)),
  }
  return source
}

async function knownOrSmall<Input, Output>(
  known: Known,
  { computation, input }: { computation: Computation<Input, Output>; input: Input },
  large: () => Promise<Output>,
): Promise<Output> {
  const outcome = known.outcomes.get(computation)
  if (outcome !== undefined && isDeepStrictEqual(outcome.input, input)) return outcome.output() as Output
  const output = computation.isSmall(input) ? computation.run(input) : await large()
  known.outcomes.set(computation, { input, output: () => output })
  return output
}

async function knownOrAcquired<T>(
  known: Known,
  { name, input }: Acquisition<T>,
  otherwise: () => Promise<T>,
): Promise<T> {
  const outcome = known.outcomes.get(name)
  return outcome !== undefined && isDeepStrictEqual(outcome.input, input) ? (outcome.output() as T) : otherwise()
}

async function acquire<T>(known: Known, acquisition: Acquisition<T>): Promise<T> {
  const acquired = await acquisition.acquire()
  known.releases.push(() => acquisition.release(acquired))
  return acquired
}

// NotComputed and TurnNeeded are refusals, so that the transaction rolls back without losing its connection.
class NotComputed extends Refusal {
  readonly compute: () => Promise<void>

  constructor(compute: () => Promise<void>) {
    super('service_unavailable', { headers: { 'Retry-After': '1' } })
    this.compute = compute
  }
}

class TurnNeeded extends Refusal {
  constructor(name: string) {
    super('service_unavailable', { headers: { 'Retry-After': '1' }, cause: `${name} needs a turn` })
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
