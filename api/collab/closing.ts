import type { Connection } from '@hocuspocus/server'
import type { DenialReason } from './denial.ts'

/** Codes and reasons of closing sockets. Providers connect again after any of them. */
export const reset = [4205, 'Reset Connection'] as const
export const tryAgainLater = [1013, 'Try Again Later'] as const

/**
 * Closes a connection for good, whose socket stays open. Hocuspocus asks for a code, but sends only the reason. The
 * provider then tells its client the code 1000.
 */
export function closeConnection(connection: Pick<Connection, 'close'>, reason: DenialReason): void {
  connection.close({ code: 1000, reason })
}

/**
 * An error that closes the connection with a reason, when a hook of Hocuspocus throws it. Errors for Hocuspocus have no
 * message, because Hocuspocus prints messages.
 */
export class ClosingError extends Error {
  readonly reason: string

  constructor(reason: string) {
    super('')
    this.reason = reason
  }
}
