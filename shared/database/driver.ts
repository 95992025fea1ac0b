import { createPgDriverFactory } from '@slonik/pg-driver'
import { BackendTerminatedError, type DriverClient, type DriverFactory } from 'slonik'
import { answerLimit, currentWorkKind, type WorkKind } from './time-limits.ts'

type Options = {
  kind: WorkKind
  /** Is called with the error of every failed statement, also of BEGIN and COMMIT. */
  onError: (error: unknown) => void
}

/**
 * slonik's driver for node-postgres, which gives a connection up when an answer is overdue. PostgreSQL has ended the
 * statement by then, so the network is silent. Neither slonik nor a setting of TCP in Node notices that.
 */
export function driverFactory(options: Options): DriverFactory {
  const open = createPgDriverFactory()
  return async (configuration) => {
    const driver = await open(configuration)
    return { createClient: async () => watched(await driver.createClient(), options) }
  }
}

function watched(client: DriverClient, { kind, onError }: Options): DriverClient {
  let lost: Error | undefined
  // slonik stops listening when it gives a client up. A later error without a listener would end the process.
  client.on('error', (error) => {
    lost ??= error
  })
  return {
    ...client,
    async query(...statement) {
      if (lost !== undefined) throw lost
      const overdue = Promise.withResolvers<never>()
      const limit = answerLimit(currentWorkKind() ?? kind)
      const timer = setTimeout(() => {
        lost = new BackendTerminatedError(new Error(`The database has not answered within ${limit} ms`))
        overdue.reject(lost)
      }, limit)
      try {
        return await Promise.race([client.query(...statement), overdue.promise])
      } catch (error) {
        onError(error)
        throw error
      } finally {
        clearTimeout(timer)
      }
    },
  }
}
