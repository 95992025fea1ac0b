import {
  BackendTerminatedError,
  BackendTerminatedUnexpectedlyError,
  ConnectionError,
  IdleTransactionTimeoutError,
} from 'slonik'

/** Whether PostgreSQL answers but refuses to write: its disk is full, it is read-only or it lacks memory. */
export function isWriteRefusal(error: unknown): boolean {
  return someCause(error, (cause) => writeRefusals.has(codeOf(cause)))
}

/**
 * Whether the error comes from the state of the database, not from the statement: the database is out of reach or
 * refuses to write. The same statement may succeed later.
 */
export function isOutage(error: unknown): boolean {
  return someCause(error, (cause) => {
    const code = codeOf(cause)
    if (unreachable.has(code) || code.startsWith('08') || code.startsWith('53') || writeRefusals.has(code)) return true
    return lostSession.some((kind) => cause instanceof kind) || lostConnection.test(cause.message)
  })
}

/** The code of an error of PostgreSQL or of the network, also where slonik has wrapped the error; empty without one. */
export function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return ''
  const { code } = error as { code?: unknown }
  return typeof code === 'string' ? code : codeOf(error.cause)
}

// PostgreSQL's codes for insufficient disk or memory, for a standby or a database that is set to read-only, and for
// errors of the disk.
const writeRefusals = new Set(['53000', '53100', '53200', '53400', '25006', '58000', '58030'])

// Codes that begin with a digit come from PostgreSQL, which stops, has crashed, is starting or has ended the session.
// Codes that begin with E come from the network.
const unreachable = new Set([
  '25P03',
  '57P01',
  '57P02',
  '57P03',
  '57P05',
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
])

const lostSession = [
  BackendTerminatedError,
  BackendTerminatedUnexpectedlyError,
  ConnectionError,
  IdleTransactionTimeoutError,
]

// Messages of node-postgres that have no code.
const lostConnection = new RegExp(
  '^(Connection terminated|Client has encountered a connection error|Client was closed|Query read timeout|' +
    'timeout exp|timeout exceeded)',
)

// slonik wraps errors in errors, up to a few levels deep, so the causes of an error are tested too.
function someCause(error: unknown, test: (cause: Error) => boolean, depth = 0): boolean {
  if (!(error instanceof Error) || depth > 8) return false
  const { originalError } = error as { originalError?: unknown }
  return test(error) || someCause(error.cause, test, depth + 1) || someCause(originalError, test, depth + 1)
}
