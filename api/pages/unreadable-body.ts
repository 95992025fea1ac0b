import { Refusal } from '../../shared/errors/errors.ts'

/**
 * The refusal of a body that a parser of express could not read: 413 for a body of more than `maxBytes`, and 400 for
 * any other mistake of the sender. An error of the service is returned as it is.
 */
export function unreadable(error: unknown, maxBytes: number): unknown {
  const { type: kind, status } = error as { type?: unknown; status?: unknown }
  if (kind === 'entity.too.large') return new Refusal('payload_too_large', { details: { max_bytes: maxBytes } })
  const isOfSender = typeof status === 'number' && status < 500
  return isOfSender ? new Refusal('invalid_request', { details: { fields: [] }, cause: error }) : error
}
