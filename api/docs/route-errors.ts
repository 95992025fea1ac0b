import { errorCatalogue } from '../../shared/errors/error-catalogue.ts'
import type { ErrorCode } from '../../shared/errors/errors.ts'
import { statusesOf } from '../http/errors.ts'
import type { ParameterMarks } from '../http/input.ts'
import { isIdempotent, isRead, type Route } from '../http/route.ts'

/**
 * The error codes that a route can answer with, by status in ascending order. They are the route's own codes and the
 * codes that follow from its other options. Some codes have 422 as a second status, for a request body that names what
 * is missing. A GET has no body, so its codes have no 422.
 */
export function errorsOf(spec: Route): Map<number, ErrorCode[]> {
  const codes = [...new Set([...commonCodes(spec), ...missingResources(spec), ...spec.errors])]
  const inOrder = Object.keys(errorCatalogue).filter((code) => codes.includes(code as ErrorCode)) as ErrorCode[]
  const pairs = inOrder.flatMap((code) => {
    const statuses = statusesOf(code)
    const possible =
      statuses.length > 1 && spec.method === 'GET' ? statuses.filter((status) => status !== 422) : statuses
    return possible.map((status) => ({ status, code }))
  })
  const byStatus = Map.groupBy(pairs, ({ status }) => status)
  return new Map(
    [...byStatus].sort(([a], [b]) => a - b).map(([status, found]) => [status, found.map(({ code }) => code)]),
  )
}

/** The codes that refuse a missing or wrong token. */
export const tokenErrors = ['missing_token', 'invalid_token', 'token_expired', 'token_revoked'] as const

function commonCodes(spec: Route): ErrorCode[] {
  const hasBody = spec.method !== 'GET'
  const needsToken = spec.access !== 'anyone'
  return [
    'invalid_request',
    ...when(needsToken, ...tokenErrors),
    'rate_limited',
    'internal_error',
    'service_unavailable',
    ...when(spec.scopes.length > 0, 'insufficient_scope'),
    ...when(!isRead(spec) && needsToken, 'forbidden'),
    ...when(hasBody || spec.answerTypes !== undefined, 'unsupported_media_type'),
    ...when(hasBody && spec.multipart === undefined, 'invalid_json', 'payload_too_large'),
    ...when(spec.multipart !== undefined, 'attachment_too_large'),
    ...when(isIdempotent(spec), 'invalid_idempotency_key', 'idempotency_key_reused', 'idempotency_in_progress'),
    ...when(spec.guard !== undefined, 'invalid_precondition', 'version_conflict'),
    ...when(spec.guard === 'required', 'precondition_required'),
    ...when(spec.conditional === true, 'invalid_precondition'),
  ]
}

function when(condition: boolean, ...codes: ErrorCode[]): ErrorCode[] {
  return condition ? codes : []
}

// The codes for resources that the path names, which can be missing or invisible to the caller, or have a malformed id.
// The schema of each path parameter names its code in `x-error`.
function missingResources(spec: Route): ErrorCode[] {
  const parameters: ParameterMarks[] = Object.values(spec.params?.properties ?? {})
  return parameters.flatMap((parameter) => parameter['x-error'] ?? [])
}
