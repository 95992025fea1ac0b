import {
  BackendTerminatedError,
  BackendTerminatedUnexpectedlyError,
  IdleTransactionTimeoutError,
  InputSyntaxError,
  StatementCancelledError,
  StatementTimeoutError,
} from 'slonik'

/** The failed statement, which some errors of slonik contain. */
type FailedStatement = { sql: string; values: readonly unknown[] }

/** Turns an error of node-postgres into the error of slonik that says the same; other errors stay as they are. */
export function asDriverError(error: Error, statement: FailedStatement): Error {
  const code = codeOf(error)
  if (/connection terminated unexpectedly/i.test(error.message)) return new BackendTerminatedUnexpectedlyError(error)
  if (/connection terminated/i.test(error.message) || code === '57P01') return new BackendTerminatedError(error)
  if (code === '25P03') return new IdleTransactionTimeoutError(error)
  if (code === '42601')
    return new InputSyntaxError(error, statement as ConstructorParameters<typeof InputSyntaxError>[1])
  // The code 57014 stands for a statement that took too long and for a statement that somebody cancelled.
  if (code !== '57014') return error
  return error.message.includes('due to user request')
    ? new StatementCancelledError(error)
    : new StatementTimeoutError(error)
}

/** The code of an error of PostgreSQL or of the network; empty where the error has none. */
export function codeOf(error: Error): string {
  const { code } = error as { code?: unknown }
  return typeof code === 'string' ? code : ''
}
