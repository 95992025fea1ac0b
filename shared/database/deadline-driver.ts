import { createPgDriverFactory } from '@slonik/pg-driver'
import { BackendTerminatedError, type DriverClient, type DriverFactory } from 'slonik'
import { answerLimit, currentWorkKind, type WorkKind } from './time-limits.ts'

/**
 * slonik's driver with a deadline for every answer. A connection that misses a deadline is closed, since nothing can
 * tell a slow network from a silent network. `onError` is called with the error of every failed statement.
 */
export function deadlineDriver(options: { kind: WorkKind; onError: (error: unknown) => void }): DriverFactory {
  const open = createPgDriverFactory()
  return async (configuration) => {
    // Opening asks the database for its types on a connection that has no deadline yet.
    const driver = await withinLimit(open(configuration), answerLimit(options.kind))
    return { createClient: async () => watched(await driver.createClient(), options) }
  }
}

function watched(
  client: DriverClient,
  { kind, onError }: { kind: WorkKind; onError: (error: unknown) => void },
): DriverClient {
  let lost: BackendTerminatedError | undefined
  const lose = (reason: Error) => {
    lost ??= new BackendTerminatedError(reason)
    return lost
  }
  client.on('error', lose)
  const query: DriverClient['query'] = async (...words) => {
    // slonik rolls back after every failure, which fails with "client is destroyed" when the connection was lost. The
    // reason of the loss says more.
    if (lost !== undefined) throw lost
    const milliseconds = answerLimit(currentWorkKind() ?? kind)
    try {
      return await withinLimit(client.query(...words), milliseconds)
    } catch (error) {
      onError(error)
      if (!(error instanceof NoAnswerError)) throw error
      void client.destroy().catch(() => {})
      throw lose(error)
    }
  }
  return { ...client, query }
}

class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError'
}

// A process that was busy until the deadline first has to read the answers that arrived meanwhile: hence the second
// timer.
async function withinLimit<T>(answer: Promise<T>, milliseconds: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const give = () => reject(new NoAnswerError(`The database has not answered within ${milliseconds} ms`))
    timer = setTimeout(() => {
      timer = setTimeout(give, 100)
    }, milliseconds)
  })
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
    // An answer that comes too late may still fail. Nobody awaits it then, and this handler keeps the failure from
    // ending the process.
    answer.catch(() => {})
  }
}
