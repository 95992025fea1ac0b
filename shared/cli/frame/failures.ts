/** The exit codes of the command line, which its help and the guide list. */
export const exitCodes = { failed: 1, usage: 2, conflict: 3, denied: 4, notFound: 5, interrupted: 130 } as const

/** The reason of a failure that no answer of the service tells. */
export type FailureKind = keyof typeof exitCodes

/**
 * A failure that a command tells in its own words. `message` is for the person, `lines` follow it, and `hint` says what
 * to do next. `details` are for programs.
 */
export class Failure extends Error {
  readonly kind: FailureKind
  readonly code: string
  readonly lines: readonly string[]
  readonly hint: string | undefined
  readonly details: unknown

  constructor(kind: FailureKind, code: string, told: Told) {
    super(told.message)
    this.kind = kind
    this.code = code
    this.lines = told.lines ?? []
    this.hint = told.hint
    this.details = told.details
  }
}

type Told = { message: string; lines?: readonly string[]; hint?: string; details?: unknown }
