import { errorCatalogue } from './error-catalogue.ts'

/** A code of the registry in decisions 7. */
export type ErrorCode = keyof typeof errorCatalogue

/** The members of `error.details`; which ones a code carries is fixed by decisions 7. */
export type ErrorDetails = Record<string, unknown>

/** What a caller sent, as a refusal repeats it: at most 200 characters. */
export function repeated(text: string): string {
  return text.slice(0, 200).toWellFormed()
}

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
 * back and the API answers with the code's status and the error envelope.
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
    this.details = options.details
    this.headers = options.headers ?? {}
  }
}
