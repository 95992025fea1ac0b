import { isDeepStrictEqual } from 'node:util'
import { Refusal } from '../errors/errors.ts'
import { type Computation, ComputationLimitError } from './computation.ts'
import { compute } from './compute.ts'

/** Where a transaction gets what has to be computed while it holds locks. */
export type Ahead = {
  /** The output of a computation; throws what the function throws and ComputationLimitError. */
  result: <Input, Output>(computation: Computation<Input, Output>, input: Input) => Output
}

/** Computes on the spot, for transactions that only the caller itself waits for. */
export const onTheSpot: Ahead = { result: (computation, input) => computation.run(input) }

/**
 * Runs a transaction that never waits for a thread: neither its locks nor its connection are held while work queues for
 * its turn, so nobody else waits for that turn and no cycle of waits can arise. A result that takes long is computed
 * between two rounds: where it is missing, the transaction rolls back, the result is computed, and the transaction runs
 * again, with the locks and checks of a first one. When an input has changed by then, the computation is done again.
 * In the tenth round the transaction computes on the spot, so that every write comes through.
 *
 * `transaction` must have no effect outside the database. Of each computation only the latest result is kept, so it may
 * ask for one. Small results are kept as well: computed again they could have other ids of new blocks, and a result
 * that is made from them would never be found.
 */
export async function computingAhead<T>(transaction: (ahead: Ahead) => Promise<T>): Promise<T> {
  const known: Known = new Map()
  for (let round = 1; ; round += 1) {
    const isLast = round === rounds
    try {
      return await transaction({ result: (computation, input) => resultOf(known, { computation, input, isLast }) })
    } catch (error) {
      if (!(error instanceof NotComputed)) throw error
      await error.compute()
    }
  }
}

// A large write takes three or four rounds; the others are for races that it loses.
const rounds = 10

type Piece<Input, Output> = { computation: Computation<Input, Output>; input: Input; isLast: boolean }
type Outcome = { input: unknown; output: () => unknown }
type Known = Map<unknown, Outcome>

function resultOf<Input, Output>(known: Known, piece: Piece<Input, Output>): Output {
  const { computation, input, isLast } = piece
  const outcome = known.get(computation)
  if (outcome !== undefined && isDeepStrictEqual(outcome.input, input)) return outcome.output() as Output
  if (isLast || computation.isSmall(input)) {
    const output = computation.run(input)
    known.set(computation, { input, output: () => output })
    return output
  }
  throw new NotComputed(async () => {
    known.set(computation, { input, output: await settled(compute(computation, input)) })
  })
}

// A refusal, so that a transaction which meets it rolls back without losing its connection.
class NotComputed extends Refusal {
  readonly compute: () => Promise<void>

  constructor(compute: () => Promise<void>) {
    super('service_unavailable', { headers: { 'Retry-After': '1' } })
    this.compute = compute
  }
}

// What the input is refused for is told when the transaction asks for it again, so that the order of checks is kept.
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
