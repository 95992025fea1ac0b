import Type, { type Static } from 'typebox'
import type { Config } from '../../config/config.ts'
import { type Queryable, sql, type Transaction } from '../../database/database.ts'
import { row } from '../../database/row.ts'
import { newId } from '../../schema/ids.ts'
import { isStorable } from '../../schema/strings.ts'
import type { Scope } from '../scopes.ts'
import { enforceTokenQuota } from '../tokens.ts'

// How long a program has to fetch its first token after a person has approved it.
const firstTokenMinutes = 10

/** What a person allows a program to do. `redirectHost` is where the person's browser goes back to. */
export type Approval = {
  userId: string
  clientId: string
  clientName: string
  redirectHost: string
  scopes: readonly Scope[]
  resource: string
}

/**
 * Records an approval and returns the id of the grant. Refuses with 409 `quota_exceeded` when the user has as many
 * tokens and grants as the settings allow.
 */
export async function createGrant(
  context: { tx: Transaction; config: Pick<Config, 'QUOTA_TOKENS'> },
  approval: Approval,
): Promise<string> {
  const { tx } = context
  await enforceTokenQuota(context, approval.userId)
  const id = newId('grant')
  await tx.query(sql.unsafe`
    INSERT INTO oauth_grants (id, user_id, client_id, client_name, redirect_host, scopes, resource, expires_at)
    VALUES (${id}, ${approval.userId}, ${approval.clientId}, ${approval.clientName}, ${approval.redirectHost},
      ${sql.array([...approval.scopes], 'text')}, ${approval.resource},
      now() + make_interval(mins => ${firstTokenMinutes}))`)
  await tx.query(sql.unsafe`UPDATE oauth_clients SET approved_at = now() WHERE id = ${approval.clientId}`)
  return id
}

const GrantShape = Type.Object({
  user_id: Type.String(),
  client_id: Type.String(),
  scopes: Type.Array(Type.Unsafe<Scope>(Type.String())),
  resource: Type.String(),
  created_at: Type.Number(),
  expires_at: Type.Number(),
})

/** A grant that was not revoked; times in Unix milliseconds. Null when there is no such grant. */
export function findGrant(db: Queryable, id: string): Promise<Static<typeof GrantShape> | null> {
  return db.maybeOne(sql.type(row(GrantShape))`
    SELECT user_id, client_id, scopes, resource, created_at, expires_at
    FROM oauth_grants WHERE id = ${id} AND revoked_at IS NULL`)
}

/** Whether a user lets a program in at present. */
export async function hasGrant(db: Queryable, grant: { userId: string; clientId: string }): Promise<boolean> {
  if (!isStorable(grant.clientId)) return false
  const { rowCount } = await db.query(sql.unsafe`
    SELECT FROM oauth_grants
    WHERE user_id = ${grant.userId} AND client_id = ${grant.clientId} AND revoked_at IS NULL AND expires_at > now()
    LIMIT 1`)
  return rowCount === 1
}

/** Keeps a grant until at least `expiresAt`, in Unix seconds, because its program got a token that lives so long. */
export async function extendGrant(db: Queryable, grant: { id: string; expiresAt: number }): Promise<void> {
  await db.query(sql.unsafe`
    UPDATE oauth_grants SET last_used_at = now(), expires_at = greatest(expires_at, to_timestamp(${grant.expiresAt}))
    WHERE id = ${grant.id}`)
}

/**
 * Revokes a grant with all its access tokens. No code and no refresh token of the grant is found afterwards. Nothing
 * happens when there is no such grant, or when it was revoked before. The caller has locked the grant in an earlier
 * statement: only then does this statement see the tokens that an exchange has issued meanwhile.
 */
export async function revokeGrant(db: Queryable, id: string): Promise<void> {
  await db.query(sql.unsafe`
    WITH revoked AS (
      UPDATE oauth_grants SET revoked_at = now() WHERE id = ${id} AND revoked_at IS NULL RETURNING id)
    UPDATE tokens SET revoked_at = now() WHERE grant_id = (SELECT id FROM revoked) AND revoked_at IS NULL`)
}

/** Revokes a grant if it belongs to the user; false otherwise. An exchange that runs meanwhile is waited for. */
export async function revokeGrantOf(tx: Transaction, grant: { userId: string; id: string }): Promise<boolean> {
  const { rowCount } = await tx.query(sql.unsafe`
    SELECT FROM oauth_grants WHERE id = ${grant.id} AND user_id = ${grant.userId} FOR NO KEY UPDATE`)
  if (rowCount === 1) await revokeGrant(tx, grant.id)
  return rowCount === 1
}

/**
 * Revokes the grant of the access token with that id, and so disconnects its program. False when there is no such token
 * or it was not issued by OAuth.
 */
export async function revokeGrantOfToken(tx: Transaction, tokenId: string): Promise<boolean> {
  const id = await tx.maybeOneFirst(sql.type(row(Type.Object({ id: Type.String() })))`
    SELECT g.id FROM tokens t JOIN oauth_grants g ON g.id = t.grant_id WHERE t.id = ${tokenId} FOR NO KEY UPDATE OF g`)
  if (id !== null) await revokeGrant(tx, id)
  return id !== null
}

const ListedGrantShape = Type.Object({
  id: Type.String(),
  client_name: Type.String(),
  redirect_host: Type.String(),
  scopes: Type.Array(Type.Unsafe<Scope>(Type.String())),
  created_at: Type.Number(),
  last_used_at: Type.Number(),
})

/**
 * The grants of a user that are neither revoked nor expired, newest first, at most `limit` of them. A grant is left out
 * until its program has fetched a token. It ends within minutes if the program fetches none.
 */
export function grantsOf(
  db: Queryable,
  { userId, limit }: { userId: string; limit: number },
): Promise<readonly Static<typeof ListedGrantShape>[]> {
  return db.any(sql.type(row(ListedGrantShape))`
    SELECT g.id, g.client_name, g.redirect_host, g.scopes, g.created_at,
      greatest(g.last_used_at, (SELECT max(t.last_used_at) FROM tokens t WHERE t.grant_id = g.id)) AS last_used_at
    FROM oauth_grants g
    WHERE g.user_id = ${userId} AND g.revoked_at IS NULL AND g.expires_at > now() AND g.last_used_at IS NOT NULL
    ORDER BY g.created_at DESC, g.id DESC LIMIT ${limit}`)
}
