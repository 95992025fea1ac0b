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
 * An error that a hook of Hocuspocus throws to end what Hocuspocus is doing. The hook has told the client why, where
 * the client has to know. The error has no message, because Hocuspocus prints messages.
 */
export class SilentError extends Error {}
