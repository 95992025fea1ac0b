import { isDeepStrictEqual } from 'node:util'
import { Refusal } from '../errors/errors.ts'
import { type Computation, ComputationLimitError } from './computation.ts'
import { compute } from './compute.ts'

/** The source of results that a transaction needs while it holds locks. */
export type Ahead = {
  /** Returns the output of a computation. Throws as the function does, or ComputationLimitError. */
  result: <Input, Output>(computation: Computation<Input, Output>, input: Input) => Output
}

/** Computes immediately, for transactions that nobody but the caller waits for. */
export const onTheSpot: Ahead = { result: (computation, input) => computation.run(input) }

/**
 * Runs a transaction that never waits for a thread. While a computation waits for its turn, the transaction holds
 * neither locks nor a connection. So nobody else waits for that turn, and no circle of waits can arise.
 *
 * Large results are computed between two rounds. Where a result is missing, the transaction rolls back, the result is
 * computed, and the transaction runs again with all its locks and checks. When an input has changed by then, it is
 * computed anew. In the tenth round the transaction computes everything immediately, so that every write comes through.
 *
 * `transaction` must have no effect outside the database. Of each computation only the latest result is kept, so a
 * transaction may ask for one result of each computation. Small results are kept too. Otherwise a small computation
 * would give new blocks other ids in each round. A large computation over these blocks would then never find its
 * result.
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

// A large write takes three or four rounds. The further rounds are for a write whose input other writes change between
// its rounds.
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

// The error is a refusal, so that the transaction rolls back without losing its connection.
class NotComputed extends Refusal {
  readonly compute: () => Promise<void>

  constructor(compute: () => Promise<void>) {
    super('service_unavailable', { headers: { 'Retry-After': '1' } })
    this.compute = compute
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
