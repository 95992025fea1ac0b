import { errorCatalogue } from '../../../shared/errors/error-catalogue.ts'
import type { ErrorCode } from '../../../shared/errors/errors.ts'
import { tokenErrors } from '../route-errors.ts'

// The name of each response header on the wire.
const headerNames: Record<keyof typeof headers, string> = {
  RequestId: 'X-Request-Id',
  RateLimitLimit: 'X-RateLimit-Limit',
  RateLimitRemaining: 'X-RateLimit-Remaining',
  RateLimitReset: 'X-RateLimit-Reset',
  ETag: 'ETag',
  Location: 'Location',
  IdempotentReplayed: 'Idempotent-Replayed',
  DryRun: 'Dry-Run',
  PreferenceApplied: 'Preference-Applied',
  RetryAfter: 'Retry-After',
  WwwAuthenticate: 'WWW-Authenticate',
}

/** `components.parameters`: the request headers that several operations take. */
export const parameters = {
  RequestId: {
    name: 'X-Request-Id',
    in: 'header',
    description: 'Kept as the id of the request when it has this form; otherwise the service makes one.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,128}$' },
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'A repetition with the same key and body gets the first answer again instead of a second effect. Taken literally.',
    schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,128}$', minLength: 1, maxLength: 128 },
  },
  Prefer: {
    name: 'Prefer',
    in: 'header',
    description:
      'With `return=minimal`, `data` has only the id and the version of each record. After a write to a body it has `document_id`, `version` and `changed_block_ids`. Any `warnings` stay.',
    schema: { type: 'string', examples: ['return=minimal'] },
  },
  IfMatch: {
    name: 'If-Match',
    in: 'header',
    description: 'Entity tags one of which must be the current one, or `*`. Checked when it is sent.',
    schema: { type: 'string' },
  },
  RequiredIfMatch: {
    name: 'If-Match',
    in: 'header',
    required: true,
    description: 'Entity tags one of which must be the current one, or `*`. Missing: 428, stale: 409.',
    schema: { type: 'string' },
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description: 'Entity tags that the client has; the answer is 304 when one of them is the current one.',
    schema: { type: 'string' },
  },
  LastEventId: {
    name: 'Last-Event-ID',
    in: 'header',
    description: 'Id of the last event that the client has processed; the stream goes on after it. 0: from the start.',
    schema: { type: 'integer', minimum: 0 },
  },
} as const

/** `components.headers`: the response headers that several operations send. */
export const headers = {
  RequestId: { description: 'Id of the request, also in the body.', schema: { type: 'string' } },
  RateLimitLimit: { description: 'Calls granted in the window of a minute.', schema: { type: 'integer' } },
  RateLimitRemaining: { description: 'Calls left in the window.', schema: { type: 'integer', minimum: 0 } },
  RateLimitReset: {
    description: 'Seconds until the window ends.',
    schema: { type: 'integer', minimum: 1, maximum: 60 },
  },
  ETag: { description: 'Strong entity tag of the current version.', schema: { type: 'string' } },
  Location: { description: 'Absolute path of the created resource.', schema: { type: 'string' } },
  IdempotentReplayed: {
    description: '`true` when this is the first answer to the Idempotency-Key once more.',
    schema: { type: 'string', const: 'true' },
  },
  PreferenceApplied: {
    description: 'Present when `data` is as small as `Prefer` has asked for.',
    schema: { type: 'string', const: 'return=minimal' },
  },
  DryRun: {
    description: '`true` when the write was rehearsed: nothing was stored.',
    schema: { type: 'string', const: 'true' },
  },
  RetryAfter: { description: 'Seconds to wait before the next try.', schema: { type: 'integer' } },
  WwwAuthenticate: { description: 'The bearer challenge of RFC 6750.', schema: { type: 'string' } },
} as const

/** References to the given headers, under their names on the wire. */
export function headerReferences(...names: (keyof typeof headers)[]): object {
  return Object.fromEntries(names.map((name) => [headerNames[name], { $ref: `#/components/headers/${name}` }]))
}

/** The headers of every answer to a call that counts against a rate limit. */
export const countedHeaders = ['RequestId', 'RateLimitLimit', 'RateLimitRemaining', 'RateLimitReset'] as const

/**
 * The schemas of the members that JSON answers have beside the result: `error`, and the member `page` of a list. No
 * route declares these schemas.
 */
export const envelopeSchemas = {
  Error: {
    type: 'object',
    required: ['error', 'request_id'],
    properties: {
      error: {
        type: 'object',
        required: ['type', 'code', 'message', 'documentation_url'],
        properties: {
          type: {
            type: 'string',
            enum: ['request_error', 'authentication_error', 'permission_error', 'rate_limit_error', 'service_error'],
          },
          code: { type: 'string', enum: Object.keys(errorCatalogue), description: 'what clients branch on' },
          message: { type: 'string', description: 'English, not contractual' },
          details: {
            type: 'object',
            additionalProperties: true,
            description: 'the responses declare its members for each code',
          },
          documentation_url: {
            type: 'string',
            format: 'uri',
            description: 'where the guide or the reference explains the code; English, for people',
          },
        },
      },
      request_id: { type: 'string' },
    },
  },
  Page: {
    type: 'object',
    required: ['cursor', 'next_cursor', 'has_more'],
    properties: {
      cursor: { type: ['string', 'null'], description: 'the cursor of this request' },
      next_cursor: { type: ['string', 'null'], description: 'the cursor of the next page' },
      has_more: { type: 'boolean' },
    },
  },
} as const

/**
 * `components.responses`: error responses that many operations share, by name. Each response has a status and its error
 * codes.
 */
export const sharedResponses: Record<string, { status: number; codes: readonly ErrorCode[] }> = {
  Unauthenticated: { status: 401, codes: tokenErrors },
  InsufficientScope: { status: 403, codes: ['insufficient_scope'] },
  PermissionDenied: { status: 403, codes: ['insufficient_scope', 'forbidden'] },
  PayloadTooLarge: { status: 413, codes: ['payload_too_large'] },
  UnsupportedMediaType: { status: 415, codes: ['unsupported_media_type'] },
  RateLimited: { status: 429, codes: ['rate_limited'] },
  InternalError: { status: 500, codes: ['internal_error'] },
  Unavailable: { status: 503, codes: ['service_unavailable'] },
}
