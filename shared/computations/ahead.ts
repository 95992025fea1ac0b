import { isDeepStrictEqual } from 'node:util'
import { Refusal } from '../errors/errors.ts'
import { type Computation, ComputationLimitError } from './computation.ts'
import { type Compute, compute, withinTurn } from './compute.ts'

/** The source of results that a transaction needs while it holds locks. */
export type Ahead = {
  /** Resolves to the output of a computation. Rejects as the function throws, or with ComputationLimitError. */
  result: Compute
  /** The same source for a transaction that asks for the results of many inputs, such as the bodies of a folder. */
  ofMany: Ahead
}

/** Computes immediately, for code that holds no locks. */
export const onTheSpot: Ahead = {
  result: async (computation, input) => computation.run(input),
  get ofMany() {
    return onTheSpot
  },
}

/**
 * Runs a transaction that does not wait for a turn. While a computation waits for its turn, the transaction holds
 * neither locks nor a connection. So nobody else waits for that turn, and no circle of waits can arise.
 *
 * Large results are computed between two rounds. Where a result is missing, the transaction rolls back, the result is
 * computed, and the transaction runs again with all its locks and checks. When an input has changed by then, it is
 * computed anew. Of each computation only the latest result is kept, so a transaction may ask for one result of each
 * computation. Small results are kept too. Otherwise a small computation would give new blocks other ids in each round.
 * A large computation over these blocks would then never find its result.
 *
 * A transaction that has lost nine races takes a turn before its locks, and so does a transaction that asks `ofMany`
 * for a large result. Then it computes in threads while it holds its locks, and comes through. Rejects with 503
 * `service_unavailable` when such a result would hold the locks for too long.
 *
 * `transaction` must have no effect outside the database.
 */
export async function computingAhead<T>(transaction: (ahead: Ahead) => Promise<T>): Promise<T> {
  const known: Known = new Map()
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

// A large write takes three or four rounds. The further rounds are for a write whose input other writes change between
// its rounds.
const roundsAhead = 9

type Outcome = { input: unknown; output: () => unknown }

/** The latest outcome of each computation. */
type Known = Map<unknown, Outcome>

function aheadOfLocks(known: Known): Ahead {
  return {
    result: async (computation, input) =>
      knownOrSmall(known, { computation, input }, () => {
        throw new NotComputed(async () => {
          known.set(computation, { input, output: await settled(compute(computation, input)) })
        })
      }),
    ofMany: sourceOfMany((computation) => {
      throw new TurnNeeded(computation.name)
    }),
  }
}

function underLocks(known: Known, computeNow: Compute): Ahead {
  return {
    result: async (computation, input) =>
      knownOrSmall(known, { computation, input }, () => computeNow(computation, input)),
    ofMany: sourceOfMany(computeNow),
  }
}

// Keeps no results, because many large results would fill the memory.
function sourceOfMany(large: Compute): Ahead {
  const source: Ahead = {
    result: async (computation, input) =>
      computation.isSmall(input) ? computation.run(input) : large(computation, input),
    get ofMany() {
      return source
    },
  }
  return source
}

async function knownOrSmall<Input, Output>(
  known: Known,
  { computation, input }: { computation: Computation<Input, Output>; input: Input },
  large: () => Promise<Output>,
): Promise<Output> {
  const outcome = known.get(computation)
  if (outcome !== undefined && isDeepStrictEqual(outcome.input, input)) return outcome.output() as Output
  const output = computation.isSmall(input) ? computation.run(input) : await large()
  known.set(computation, { input, output: () => output })
  return output
}

// Both errors are refusals, so that the transaction rolls back without losing its connection.
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

// The refusal of an input is thrown when the transaction asks for the result again, so that the order of checks stays.
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
