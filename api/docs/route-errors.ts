import { errorCatalogue } from '../../shared/errors/error-catalogue.ts'
import type { ErrorCode } from '../../shared/errors/errors.ts'
import { statusesOf } from '../http/errors.ts'
import type { ParameterMarks } from '../http/input.ts'
import { isIdempotent, type Route } from '../http/route.ts'

/**
 * The error codes that a route can answer with, by status in ascending order: its own codes, and the codes that follow
 * from its other options. A code with two statuses never has the status 422 on a read, because a read has no body.
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
  const isWrite = spec.method !== 'GET'
  const needsToken = spec.access !== 'anyone'
  return [
    'invalid_request',
    ...when(needsToken, ...tokenErrors),
    'rate_limited',
    'internal_error',
    'service_unavailable',
    ...when(spec.scopes.length > 0, 'insufficient_scope'),
    ...when(isWrite && needsToken, 'forbidden'),
    ...when(isWrite || spec.answerTypes !== undefined, 'unsupported_media_type'),
    ...when(isWrite && spec.multipart === undefined, 'invalid_json', 'payload_too_large'),
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

// A resource that the path names can be missing, malformed or invisible to the caller.
function missingResources(spec: Route): ErrorCode[] {
  const parameters: ParameterMarks[] = Object.values(spec.params?.properties ?? {})
  return parameters.flatMap((parameter) => parameter['x-error'] ?? [])
}
