import { Refusal } from '../../shared/errors/errors.ts'

/** Parses Last-Event-ID; null when it was not sent, 400 `invalid_last_event_id` unless it is an integer >= 0. */
export function parseLastEventId(header: string | string[] | undefined): number | null {
  if (header === undefined) return null
  // A number too large to be exact is above every id, whichever it is.
  if (typeof header === 'string' && /^[0-9]+$/.test(header.trim())) return Number(header)
  throw new Refusal('invalid_last_event_id')
}
