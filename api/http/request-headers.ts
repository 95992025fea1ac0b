import type { Request } from 'express'
import { Refusal, unsupportedMediaType } from '../../shared/errors/errors.ts'

/** The service's own media type for document bodies (api/guide/requests.md#media-types). */
export const vendorType = 'application/vnd.svc.document+json'

// Matches a parameter of a media type in Accept, except the weight `q`.
const parameterButWeight = /;(?!\s*q\s*=)[^;,]*/gi

/**
 * Chooses the media type of an answer by Accept: JSON, or one of `others` if the caller prefers it. Returns null when
 * `others` is undefined, and Accept is then ignored. A caller that admits none of the types is refused with 415
 * `unsupported_media_type`.
 */
export function negotiateContentType(request: Request, others: readonly string[] | undefined): string | null {
  if (others === undefined) return null
  const { accept } = request.headers
  // The types of this service have no parameters. So a parameter such as `charset` narrows nothing and is removed from
  // Accept.
  if (accept !== undefined) request.headers.accept = accept.replace(parameterButWeight, '')
  const accepted = ['application/json', ...others]
  const chosen = request.accepts(accepted)
  if (chosen === false) throw unsupportedMediaType({ wanted: accept, accepted })
  return chosen === 'application/json' ? 'application/json; charset=utf-8' : chosen
}

/**
 * Parses Last-Event-ID; null when it was not sent. Refuses with 400 `invalid_last_event_id` unless it is an integer >=
 * 0.
 */
export function parseLastEventId(header: string | string[] | undefined): number | null {
  if (header === undefined) return null
  // A number that is too large to be exact is above every id, so its rounding does not matter.
  if (typeof header === 'string' && /^[0-9]+$/.test(header.trim())) return Number(header)
  throw new Refusal('invalid_last_event_id')
}
