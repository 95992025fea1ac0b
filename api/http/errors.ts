import { StatementTimeoutError } from 'slonik'
import { ComputationLimitError } from '../../shared/computations/computation.ts'
import { isOutage, isWriteRefusal } from '../../shared/database/outages.ts'
import { type CatalogueEntry, errorCatalogue } from '../../shared/errors/error-catalogue.ts'
import { type ErrorCode, Refusal } from '../../shared/errors/errors.ts'
import { guidePlaceOf } from './error-chapters.ts'

/** The error envelope of specification 2.1. */
export type ErrorBody = {
  error: {
    type: string
    code: ErrorCode
    message: string
    details?: Record<string, unknown>
    documentation_url: string
  }
  request_id: string
}

/**
 * The one place where a thrown value becomes a refusal to answer with. What is not a Refusal is a fault of ours: 503
 * while the database is out of reach, refuses to write or is too slow, 500 otherwise; its cause is for the log, never for
 * the response.
 */
export function asRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  if (error instanceof ComputationLimitError) return tooCostly(error)
  if (!isOutage(error) && !(error instanceof StatementTimeoutError))
    return new Refusal('internal_error', { cause: error })
  // A lost connection is replaced at once; a disk is not emptied that soon.
  const seconds = isWriteRefusal(error) ? '10' : '1'
  return new Refusal('service_unavailable', { headers: { 'Retry-After': seconds }, cause: error })
}

// The same request would end in the same way, so nobody is asked to repeat it.
function tooCostly({ limit }: ComputationLimitError): Refusal {
  const reason = `this document takes too much ${limit} to be computed; read it as tiptap-json or make it smaller`
  return new Refusal('invalid_node', { details: { path: '', reason } })
}

/** The response body of a refusal; `origin` is where the guide and the reference are served that explain its code. */
export function errorBody(refusal: Refusal, { requestId, origin }: { requestId: string; origin: string }): ErrorBody {
  const { code, message, details, status } = refusal
  return {
    error: {
      type: errorType(status),
      code,
      message,
      ...(details !== undefined && { details }),
      documentation_url: origin + documentationPath(code),
    },
    request_id: requestId,
  }
}

// The chapter of the guide that says what to do, or the row of the reference where the sentence of the code says it all.
function documentationPath(code: ErrorCode): string {
  const place = guidePlaceOf(code)
  return place === undefined ? `/api-docs.md#${errorAnchor(code)}` : `/guide/${place}`
}

/** The anchor of a code in the reference. */
export function errorAnchor(code: ErrorCode): string {
  return `error-${code}`
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
