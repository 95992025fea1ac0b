import type { components } from './openapi.d.ts'

/** The codes of errors by which the service refuses a call. A later version of the service may have more of them. */
export type ServiceErrorCode = components['schemas']['Error']['error']['code']

/**
 * The codes of errors that the client itself reports:
 * - `connection_failed`: no answer arrived, because the network or a proxy failed;
 * - `timeout`: no answer arrived in time, or a job did not end in time;
 * - `redirected`: the address answered with a redirect, which the client does not follow with a token;
 * - `not_modified`: the answer is 304, since the resource still has the version of `If-None-Match`;
 * - `unexpected_answer`: the answer is not one of this service.
 */
export type ClientErrorCode = 'connection_failed' | 'timeout' | 'redirected' | 'not_modified' | 'unexpected_answer'

/** What went wrong, as programs decide by it. */
export type ErrorCode = ServiceErrorCode | ClientErrorCode | (string & {})

/** Everything that is known about a failed call, besides its message. */
export type KnowledgeBaseErrorOptions = {
  code: ErrorCode
  reason?: string | undefined
  status?: number | undefined
  details?: Readonly<Record<string, unknown>> | undefined
  requestId?: string | undefined
  retryAfter?: number | undefined
  outcomeUnknown?: boolean
  cause?: unknown
}

/**
 * The error of every call that failed. Decide by `code`; `message` is for people, and neither of them ever contains a
 * token. A call that is aborted by the caller's signal throws the reason of the signal instead.
 */
export class KnowledgeBaseError extends Error {
  override readonly name = 'KnowledgeBaseError'
  readonly code: ErrorCode
  /** The message without the call that failed: that of the service, where it has refused the call. */
  readonly reason: string
  /** The HTTP status; undefined when no answer arrived. */
  readonly status: number | undefined
  /** `error.details` of the answer; each code has one shape, which the reference describes. */
  readonly details: Readonly<Record<string, unknown>> | undefined
  /** The id by which the operator finds the call in the logs of the service. */
  readonly requestId: string | undefined
  /** Seconds after which the service asks to repeat the call. */
  readonly retryAfter: number | undefined
  /**
   * True when an attempt of this write was sent and got no answer, so that the write may have happened. Read before you
   * write again.
   */
  readonly outcomeUnknown: boolean

  constructor(message: string, options: KnowledgeBaseErrorOptions) {
    super(message, options.cause === undefined ? {} : { cause: options.cause })
    this.code = options.code
    this.reason = options.reason ?? message
    this.status = options.status
    this.details = options.details
    this.requestId = options.requestId
    this.retryAfter = options.retryAfter
    this.outcomeUnknown = options.outcomeUnknown ?? false
  }
}
