import Type, { type Static } from 'typebox'
import type { Config } from '../../config/config.ts'
import { type Queryable, sql } from '../../database/database.ts'
import { row } from '../../database/row.ts'
import { Nullable } from '../../schema/identifiers.ts'
import { hashSecret, parseBearer, secretMatches } from '../tokens.ts'
import { revokeGrant } from './grants.ts'

type Context = { db: Queryable; config: Pick<Config, 'TOKEN_PEPPER'> }

/** An access token that was issued. `expiresAt` is in Unix seconds. */
export type IssuedAccessToken = {
  bearer: string
  grantId: string
  scopes: readonly string[]
  resource: string
  expiresAt: number
}

/** Stores an access token as a token of the grant's user, under the name of the grant's program. */
export async function insertAccessToken({ db, config }: Context, issued: IssuedAccessToken): Promise<void> {
  const presented = parseBearer(issued.bearer)
  if (presented === null) throw new Error('an access token has another form than bearer tokens')
  await db.query(sql.unsafe`
    INSERT INTO tokens (id, user_id, name, secret_hash, scopes, expires_at, grant_id, resource)
    SELECT ${presented.id}, user_id, client_name, ${sql.binary(hashSecret(presented.secret, config.TOKEN_PEPPER))},
      ${sql.array([...issued.scopes], 'text')}, to_timestamp(${issued.expiresAt}), id, ${issued.resource}
    FROM oauth_grants WHERE id = ${issued.grantId}`)
}

const AccessTokenShape = Type.Object({
  secret_hash: Type.Unsafe<Buffer>({}),
  grant_id: Type.String(),
  user_id: Type.String(),
  client_id: Type.String(),
  expires_at: Type.Number(),
  revoked_at: Nullable(Type.Number()),
})

/**
 * The access token with a bearer value; null for every other text, and for tokens that were not issued by OAuth. Its
 * grant is locked, so that a revocation waits for an exchange.
 */
export async function findAccessToken(
  { db, config }: Context,
  bearer: string,
): Promise<Static<typeof AccessTokenShape> | null> {
  const presented = parseBearer(bearer)
  if (presented === null) return null
  const found = await db.maybeOne(sql.type(row(AccessTokenShape))`
    SELECT t.secret_hash, t.grant_id, t.user_id, g.client_id, t.expires_at, t.revoked_at
    FROM tokens t JOIN oauth_grants g ON g.id = t.grant_id WHERE t.id = ${presented.id}
    FOR NO KEY UPDATE OF g`)
  const given = { secret: presented.secret, pepper: config.TOKEN_PEPPER }
  return found !== null && secretMatches({ ...given, storedHash: found.secret_hash }) ? found : null
}

/**
 * Revokes the grant of an access token, and so disconnects its program; an access token that has expired or was revoked
 * will do. False for every other text, which changes nothing.
 */
export async function revokeGrantOfAccessToken(context: Context, bearer: string): Promise<boolean> {
  const found = await findAccessToken(context, bearer)
  if (found !== null) await revokeGrant(context.db, found.grant_id)
  return found !== null
}
