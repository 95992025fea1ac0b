import type { Static, TSchema } from 'typebox'
import { cutText } from '../schema/strings.ts'
import { errorCatalogue } from './error-catalogue.ts'

const shownCharacters = 200
const shownMembers = 100

// Members of details that hold sentences and pointers of the service itself. Such texts may be longer than texts that
// repeat the request.
const ownTexts = new Set(['message', 'path'])
const ownCharacters = 2000

/** A code of the catalogue of errors. */
export type ErrorCode = keyof typeof errorCatalogue

/** The members of `error.details` that a code carries, as its entry of the catalogue declares them. */
export type ErrorDetails<Code extends ErrorCode = ErrorCode> = Code extends ErrorCode
  ? (typeof errorCatalogue)[Code] extends { details: infer Details extends TSchema }
    ? DeepReadonly<Static<Details>>
    : undefined
  : never

type DeepReadonly<Value> = { readonly [Name in keyof Value]: DeepReadonly<Value[Name]> }

type RefusalOptions<Details> = {
  details?: Details
  /** Overrides the catalogue's sentence where a more precise sentence helps the caller. */
  message?: string
  /** Overrides the catalogue's status; only for the codes that answer with either of two statuses. */
  status?: number
  /** Response headers that belong to the refusal, such as `Retry-After` or the current `ETag`. */
  headers?: Record<string, string>
  cause?: unknown
}

/**
 * The options may only be left out where the code declares no details, or where all members of the details are
 * optional.
 */
type OptionsOf<Details> = undefined extends Details
  ? [options?: RefusalOptions<Details>]
  : Record<never, never> extends Details
    ? [options?: RefusalOptions<Details>]
    : [options: RefusalOptions<Details> & { details: Details }]

/**
 * An expected refusal: bad input, a conflict, a missing right. Any function may throw a refusal. The transaction around
 * it rolls back, and the API answers with the status of the code and the error envelope. The details repeat at most 200
 * code points of each text and 100 members of each list. So a large request cannot cause a large answer.
 *
 * The compiler checks the details against the catalogue's schema of the code.
 */
export class Refusal<Code extends ErrorCode = ErrorCode> extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly details: Record<string, unknown> | undefined
  readonly headers: Record<string, string>

  constructor(code: Code, ...[options = {}]: OptionsOf<ErrorDetails<Code>>) {
    super(options.message ?? errorCatalogue[code].message, { cause: options.cause })
    this.name = 'Refusal'
    this.code = code
    this.status = options.status ?? errorCatalogue[code].status
    this.details = options.details && (bounded(options.details) as Record<string, unknown>)
    this.headers = options.headers ?? {}
  }
}

/**
 * The 415 for a media type that is not accepted. `sent` is the type of the request body, `wanted` the Accept header.
 * The message lists the accepted types and repeats at most 100 characters of what the client sent.
 */
export function unsupportedMediaType(input: {
  sent?: string | null | undefined
  wanted?: string | undefined
  accepted: readonly string[]
}): Refusal {
  const { sent, wanted, accepted } = input
  const message = `${problemOf({ sent, wanted })}; accepted: ${accepted.join(', ')}.`
  return new Refusal('unsupported_media_type', { message, details: { accepted: [...accepted] } })
}

function problemOf({ sent, wanted }: { sent?: string | null | undefined; wanted?: string | undefined }): string {
  if (wanted !== undefined) return `The answer has none of the media types that Accept names (${wanted.slice(0, 100)})`
  if (!sent) return 'The body comes without a media type (Content-Type)'
  return `The media type ${sent.slice(0, 100)} is not supported here`
}

function bounded(value: unknown, length = shownCharacters): unknown {
  if (typeof value === 'string') return cutText(value, length)
  if (Array.isArray(value)) return value.slice(0, shownMembers).map((member) => bounded(member))
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(([name, member]) => [
    name,
    bounded(member, ownTexts.has(name) ? ownCharacters : shownCharacters),
  ])
  return Object.fromEntries(members)
}
