import { cutText } from '../schema/strings.ts'
import { errorCatalogue } from './error-catalogue.ts'

/** A code of the registry in decisions 7. */
export type ErrorCode = keyof typeof errorCatalogue

/** The members of `error.details`; which ones a code carries is fixed by decisions 7. */
export type ErrorDetails = Record<string, unknown>

type RefusalOptions = {
  details?: ErrorDetails
  /** Overrides the catalogue's sentence where a more precise one helps the caller. */
  message?: string
  /** For the three codes that answer with either of two statuses. */
  status?: number
  /** Response headers the code asks for, such as `Retry-After` or the current `ETag`. */
  headers?: Record<string, string>
  cause?: unknown
}

/**
 * An expected refusal: bad input, a conflict, a missing right. Throw it anywhere; the transaction around it rolls
 * back and the API answers with the code's status and the error envelope. Its details repeat at most 200 code points of
 * each text of the caller and 100 members of each list, so that no refusal is larger than what was refused.
 */
export class Refusal extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly details: ErrorDetails | undefined
  readonly headers: Record<string, string>

  constructor(code: ErrorCode, options: RefusalOptions = {}) {
    super(options.message ?? errorCatalogue[code].message, { cause: options.cause })
    this.name = 'Refusal'
    this.code = code
    this.status = options.status ?? errorCatalogue[code].status
    this.details = options.details && (bounded(options.details) as ErrorDetails)
    this.headers = options.headers ?? {}
  }
}

const shownCharacters = 200
const shownMembers = 100

// Where something is wrong and what is allowed there is said by this service, at more length than it repeats a text.
const ownTexts = new Set(['message', 'path'])
const ownCharacters = 2000

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
