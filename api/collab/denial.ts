import type { ErrorCode } from '../../shared/errors/errors.ts'

/**
 * The reasons for which a connection to a document is denied or closed (api/guide/collaboration.md#refusals). They are
 * codes of errors of the API, except `too_many_connections` and `document_replaced`, which only live editing has.
 */
export type DenialReason =
  | 'too_many_connections'
  | 'document_replaced'
  | Extract<
      ErrorCode,
      | 'missing_token'
      | 'invalid_token'
      | 'insufficient_scope'
      | 'document_not_found'
      | 'forbidden'
      | 'rate_limited'
      | 'service_unavailable'
    >

/**
 * A denied connection. Hocuspocus sends `reason` to the client. The message is empty, because Hocuspocus prints every
 * error that has a message.
 */
export class Denial extends Error {
  readonly reason: DenialReason

  constructor(reason: DenialReason) {
    super('')
    this.reason = reason
  }
}
