import { setImmediate as eventLoopTurn } from 'node:timers/promises'
import { bearerToken } from '../../shared/auth/bearer.ts'
import type { Caller } from '../../shared/auth/caller.ts'
import { countsFor, type ProtectedResource } from '../../shared/auth/oauth/resources.ts'
import { type TokenWithUser, tokensWithUsers, touchToken } from '../../shared/auth/queries.ts'
import type { Scope } from '../../shared/auth/scopes.ts'
import { parseBearer, secretMatches } from '../../shared/auth/tokens.ts'
import type { Config } from '../../shared/config/config.ts'
import type { Database } from '../../shared/database/database.ts'
import { isWriteRefusal } from '../../shared/database/outages.ts'
import { type ErrorCode, Refusal } from '../../shared/errors/errors.ts'

// The interval at which the last use of a token is noted. People see the last use in their list of tokens. A precision
// of one minute costs almost no writes.
const touchEveryMs = 60_000

/** The database that has the tokens, and the settings that tell which tokens are genuine. */
type TokenContext = { database: Database; config: Pick<Config, 'TOKEN_PEPPER' | 'PUBLIC_ORIGIN'> }

/** A bearer token, and the part of the service that it is presented to. */
type Presented = { bearer: string; resource: ProtectedResource }

/**
 * Finds the caller whose token the Authorization header carries (api/guide/authentication.md#tokens). `resource` is the
 * part of the service that is called. Cookies and query strings never count. The token is looked up on every call, so a
 * revocation takes effect at once. Refuses with 401 `missing_token`, `invalid_token`, `token_expired` or
 * `token_revoked`.
 */
export function authenticate(
  context: TokenContext,
  call: { authorization: string | undefined; resource: ProtectedResource },
): Promise<Caller> {
  return callerOf(context, { bearer: bearerToken(call.authorization, 'svc'), resource: call.resource })
}

/**
 * Finds the caller to whom a bearer token was issued, as `authenticate` does. Refuses with 401 `invalid_token`,
 * `token_expired` or `token_revoked`.
 */
export async function callerOf(context: TokenContext, { bearer, resource }: Presented): Promise<Caller> {
  const presented = parseBearer(bearer)
  if (presented === null) {
    throw unauthorized(
      'invalid_token',
      'The token is malformed: it must be svc_tok_<id>_<secret>, whole and unchanged.',
    )
  }
  const token = await lookUp(context.database, presented.id)
  const genuine =
    token !== undefined &&
    secretMatches({ secret: presented.secret, storedHash: token.secret_hash, pepper: context.config.TOKEN_PEPPER })
  if (!genuine) throw unauthorized('invalid_token')
  if (token.revoked_at !== null) throw unauthorized('token_revoked')
  if (token.expires_at !== null && token.expires_at <= Date.now()) throw unauthorized('token_expired')
  if (!countsFor(token.resource, { origin: context.config.PUBLIC_ORIGIN, resource })) {
    throw unauthorized('invalid_token', 'The token was issued for another part of this service.')
  }
  if (Date.now() - (token.last_used_at ?? 0) > touchEveryMs) await noteUse(context.database, token.id)
  return {
    tokenId: token.id,
    credentialId: token.grant_id ?? token.id,
    userId: token.user_id,
    email: token.email,
    name: token.name,
    scopes: token.scopes,
    expiresAt: token.expires_at,
    clientName: token.grant_id === null ? null : token.token_name,
    memberships: token.memberships,
  }
}

type Tokens = ReadonlyMap<string, TokenWithUser>

/** A look-up of tokens that has not begun, so that further calls may still join it. */
type Lookup = { ids: Set<string>; tokens: Promise<Tokens> }

const open = new WeakMap<Database, Lookup>()

// Calls that arrive in one turn of the event loop share a statement. The statement begins after all these calls, so
// each call sees every revocation that was answered before the call.
async function lookUp(database: Database, tokenId: string): Promise<TokenWithUser | undefined> {
  const lookup = open.get(database) ?? openLookup(database)
  lookup.ids.add(tokenId)
  return (await lookup.tokens).get(tokenId)
}

function openLookup(database: Database): Lookup {
  const ids = new Set<string>()
  const begin = async (): Promise<Tokens> => {
    await eventLoopTurn()
    open.delete(database)
    const found = await tokensWithUsers(database, [...ids])
    return new Map(found.map((token) => [token.id, token]))
  }
  const lookup = { ids, tokens: begin() }
  open.set(database, lookup)
  return lookup
}

/** Refuses with 403 `insufficient_scope` unless the token has every scope. */
export function requireScopes(caller: Caller, required: readonly Scope[]): void {
  if (required.every((scope) => caller.scopes.includes(scope))) return
  throw new Refusal('insufficient_scope', {
    details: { required_scopes: [...required] },
    headers: { 'WWW-Authenticate': `Bearer realm="svc", error="insufficient_scope", scope="${required.join(' ')}"` },
  })
}

// Notes when a token was used. A database that refuses writes can still be read, so the call then goes on without the
// note.
async function noteUse(database: Database, tokenId: string): Promise<void> {
  await touchToken(database, tokenId).catch((error: unknown) => {
    if (!isWriteRefusal(error)) throw error
  })
}

function unauthorized(code: ErrorCode, message?: string): Refusal {
  const headers = { 'WWW-Authenticate': 'Bearer realm="svc", error="invalid_token"' }
  return new Refusal(code, { ...(message !== undefined && { message }), headers })
}
