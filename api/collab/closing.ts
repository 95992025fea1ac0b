/** Codes and reasons of closing sockets. Providers connect again after any of them. */
export const reset = [4205, 'Reset Connection'] as const
export const tryAgainLater = [1013, 'Try Again Later'] as const

/**
 * An error that closes the connection with a reason, when a hook of Hocuspocus throws it. Errors for Hocuspocus have no
 * message, because Hocuspocus prints messages.
 */
export class ClosingError extends Error {
  readonly code = reset[0]
  readonly reason: string

  constructor(reason: string) {
    super('')
    this.reason = reason
  }
}
