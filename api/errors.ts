import { SlonikError, StatementTimeoutError } from 'slonik'
import { ComputationLimitError } from '../shared/computations/computation.ts'
import { type CatalogueEntry, errorCatalogue } from '../shared/error-catalogue.ts'
import { type ErrorCode, Refusal } from '../shared/errors.ts'

/** The error envelope of specification 2.1. */
export type ErrorBody = {
  error: { type: string; code: ErrorCode; message: string; details?: Record<string, unknown> }
  request_id: string
}

/**
 * The one place where a thrown value becomes a refusal to answer with. What is not a Refusal is a fault of ours: 503
 * while the database is out of reach, 500 otherwise; its cause is for the log, never for the response.
 */
export function asRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  if (error instanceof ComputationLimitError) return tooCostly(error)
  if (isUnavailable(error)) return new Refusal('service_unavailable', { headers: { 'Retry-After': '1' }, cause: error })
  return new Refusal('internal_error', { cause: error })
}

// The same request would end in the same way, so nobody is asked to repeat it.
function tooCostly({ limit }: ComputationLimitError): Refusal {
  const reason = `this document takes too much ${limit} to be computed; read it as tiptap-json or make it smaller`
  return new Refusal('invalid_node', { details: { path: '', reason } })
}

/** The response body of a refusal. */
export function errorBody(refusal: Refusal, requestId: string): ErrorBody {
  const { code, message, details } = refusal
  return {
    error: { type: errorType(refusal.status), code, message, ...(details !== undefined && { details }) },
    request_id: requestId,
  }
}

/** `error.type` of a status (decisions 7). */
export function errorType(status: number): string {
  if (status === 401) return 'authentication_error'
  if (status === 403) return 'permission_error'
  if (status === 429) return 'rate_limit_error'
  return status >= 500 ? 'service_error' : 'request_error'
}

/** Every status a code can answer with. */
export function statusesOf(code: ErrorCode): number[] {
  const entry: CatalogueEntry = errorCatalogue[code]
  return entry.otherStatus === undefined ? [entry.status] : [entry.status, entry.otherStatus]
}

const outageCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
  '57P01',
  '57P02',
  '57P03',
  '53300',
])

// A lost or refused connection, however deep slonik has wrapped it.
function isUnavailable(error: unknown): boolean {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 8; cause = cause.cause, depth += 1) {
    const code = (cause as { code?: unknown }).code
    if (typeof code === 'string' && (outageCodes.has(code) || code.startsWith('08'))) return true
    if (cause instanceof StatementTimeoutError) return true
    if (cause instanceof SlonikError && /^(Backend|Connection|IdleTransaction)/.test(cause.constructor.name)) {
      return true
    }
    if (/^(Connection terminated|Client has encountered a connection error|timeout exceeded)/.test(cause.message))
      return true
    const inner = (cause as { cause?: unknown; originalError?: unknown }).originalError
    if (cause.cause === undefined && inner instanceof Error && isUnavailable(inner)) return true
  }
  return false
}
