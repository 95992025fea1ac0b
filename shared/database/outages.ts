import {
  BackendTerminatedError,
  BackendTerminatedUnexpectedlyError,
  ConnectionError,
  IdleTransactionTimeoutError,
} from 'slonik'

/** Whether PostgreSQL refuses what it is asked to write while it still answers: full disk, read-only, no memory. */
export function isWriteRefusal(error: unknown): boolean {
  return someCause(error, (cause) => writeRefusals.has(codeOf(cause)))
}

/**
 * Whether the database is to blame and not the statement: it is out of reach, or refuses. The same statement may succeed
 * once the database is well again.
 */
export function isOutage(error: unknown): boolean {
  return someCause(error, (cause) => {
    const code = codeOf(cause)
    if (unreachable.has(code) || code.startsWith('08') || code.startsWith('53') || writeRefusals.has(code)) return true
    return lostSession.some((kind) => cause instanceof kind) || lostConnection.test(cause.message)
  })
}

// Insufficient resources (disk, memory), a standby or a database set to read-only, and errors of the disk.
const writeRefusals = new Set(['53000', '53100', '53200', '53400', '25006', '58000', '58030'])

// PostgreSQL stops, has crashed, starts, or has ended the session; the others come from the network.
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

// What node-postgres says without a code.
const lostConnection =
  /^(Connection terminated|Client has encountered a connection error|Client was closed|Query read timeout|timeout exp|timeout exceeded)/

function codeOf(error: Error): string {
  const { code } = error as { code?: unknown }
  return typeof code === 'string' ? code : ''
}

// However deep slonik has wrapped it.
function someCause(error: unknown, test: (cause: Error) => boolean, depth = 0): boolean {
  if (!(error instanceof Error) || depth > 8) return false
  const { originalError } = error as { originalError?: unknown }
  return test(error) || someCause(error.cause, test, depth + 1) || someCause(originalError, test, depth + 1)
}
