import type { Request } from 'express'
import { Refusal, unsupportedMediaType } from '../../shared/errors/errors.ts'

/** The media type of bodies of our own (specification 4.9). */
export const vendorType = 'application/vnd.svc.document+json'

/**
 * Chooses the media type of an answer that comes as JSON or, when the caller prefers it, as one of the others; null
 * where there are no others. A caller that admits none gets 415, the only place where Accept matters (decisions 4.9,
 * D17).
 */
export function negotiateContentType(request: Request, others: readonly string[] | undefined): string | null {
  if (others === undefined) return null
  const { accept } = request.headers
  // Our types have no parameters, so that one in a media range, such as `charset`, narrows nothing.
  if (accept !== undefined) request.headers.accept = accept.replace(parameterButWeight, '')
  const accepted = ['application/json', ...others]
  const chosen = request.accepts(accepted)
  if (chosen === false) throw unsupportedMediaType({ wanted: accept, accepted })
  return chosen === 'application/json' ? 'application/json; charset=utf-8' : chosen
}

const parameterButWeight = /;(?!\s*q\s*=)[^;,]*/gi

/** Parses Last-Event-ID; null when it was not sent, 400 `invalid_last_event_id` unless it is an integer >= 0. */
export function parseLastEventId(header: string | string[] | undefined): number | null {
  if (header === undefined) return null
  // A number too large to be exact is above every id, whichever it is.
  if (typeof header === 'string' && /^[0-9]+$/.test(header.trim())) return Number(header)
  throw new Refusal('invalid_last_event_id')
}
