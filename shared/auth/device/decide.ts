import type { Config } from '../../config/config.ts'
import type { Queryable } from '../../database/database.ts'
import { isReading, type Scope } from '../scopes.ts'
import { codeHash } from './codes.ts'
import { decide, pendingRequest } from './queries.ts'

/** What a device asks for: its name as it gave it, what it wants, and what is left of that without writing. */
export type DeviceRequest = { clientName: string | null; scopes: readonly Scope[]; readOnly: readonly Scope[] }

type Context = { db: Queryable; config: Config }

/** The pending request of a user code (as `readUserCode` returns it), or null. */
export async function requestOf(context: Context, userCode: string): Promise<DeviceRequest | null> {
  const found = await pendingRequest(context.db, hashOf(context, userCode))
  if (found === null) return null
  const { client_name, requested_scopes } = found
  return { clientName: client_name, scopes: requested_scopes, readOnly: requested_scopes.filter(isReading) }
}

/** Grants the scopes to the device in the user's name, or refuses with null; false when the request is gone. */
export function decideRequest(
  context: Context,
  decision: { userCode: string; userId: string; scopes: readonly Scope[] | null },
): Promise<boolean> {
  const { userCode, ...rest } = decision
  return decide(context.db, { userCodeHash: hashOf(context, userCode), ...rest })
}

function hashOf({ config }: Context, userCode: string): Buffer {
  return codeHash(config.TOKEN_PEPPER, { kind: 'user code', text: userCode })
}
