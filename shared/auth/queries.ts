import Type from 'typebox'
import { prepared, type Queryable, sql, type Transaction } from '../database/database.ts'
import { row } from '../database/row.ts'
import { Role } from './schema.ts'
import type { Scope } from './scopes.ts'

const nullableTime = Type.Union([Type.Number(), Type.Null()])

const TokenRow = row(
  Type.Object({
    id: Type.String(),
    secret_hash: Type.Unsafe<Buffer>({}),
    scopes: Type.Array(Type.Unsafe<Scope>(Type.String())),
    expires_at: nullableTime,
    revoked_at: nullableTime,
    last_used_at: nullableTime,
    user_id: Type.String(),
    email: Type.String(),
    name: Type.String(),
    memberships: Type.Array(Type.Object({ workspace_id: Type.String(), name: Type.String(), role: Role })),
  }),
)

/** A token with its user and the user's memberships, oldest first; null when there is no such token. */
export function tokenWithUser(db: Queryable, tokenId: string) {
  return db.maybeOne(
    prepared(sql.type(TokenRow)`
    SELECT t.id, t.secret_hash, t.scopes, t.expires_at, t.revoked_at, t.last_used_at, u.id AS user_id, u.email, u.name,
      coalesce(
        (SELECT jsonb_agg(jsonb_build_object('workspace_id', m.workspace_id, 'name', w.name, 'role', m.role)
                          ORDER BY m.created_at, m.workspace_id)
         FROM memberships m JOIN workspaces w ON w.id = m.workspace_id
         WHERE m.user_id = u.id), '[]') AS memberships
    FROM tokens t JOIN users u ON u.id = t.user_id
    WHERE t.id = ${tokenId}`),
  )
}

/** Notes that a token was used; the caller decides how often, so that reads do not become writes. */
export async function touchToken(db: Queryable, tokenId: string): Promise<void> {
  await db.query(sql.unsafe`UPDATE tokens SET last_used_at = now() WHERE id = ${tokenId}`)
}

/** Revokes a token; false when there is no such token. Revoking twice keeps the first time. */
export async function revokeToken(db: Queryable, tokenId: string): Promise<boolean> {
  const result = await db.query(sql.unsafe`
    UPDATE tokens SET revoked_at = coalesce(revoked_at, now()) WHERE id = ${tokenId}`)
  return result.rowCount === 1
}

const IdRow = row(Type.Object({ id: Type.String() }))

/** Whether any user exists: an empty database gets an owner at its first start. */
export function anyUserExists(db: Queryable): Promise<boolean> {
  return db.oneFirst(
    sql.type(row(Type.Object({ exists: Type.Boolean() })))`SELECT EXISTS (SELECT FROM users) AS exists`,
  )
}

/** Creates the user, or returns the id of the one who has that email already (compared without case). */
export async function ensureUser(
  tx: Transaction,
  user: { id: string; email: string; name: string; passwordHash: string | null },
): Promise<{ id: string; created: boolean }> {
  const created = await tx.maybeOne(sql.type(IdRow)`
    INSERT INTO users (id, email, name, password_hash)
    VALUES (${user.id}, ${user.email}, ${user.name}, ${user.passwordHash})
    ON CONFLICT (lower(email)) DO NOTHING RETURNING id`)
  if (created) return { id: created.id, created: true }
  const found = await tx.one(sql.type(IdRow)`SELECT id FROM users WHERE lower(email) = lower(${user.email})`)
  return { id: found.id, created: false }
}

/** Replaces a user's password hash. */
export async function setPasswordHash(tx: Transaction, user: { id: string; passwordHash: string }): Promise<void> {
  await tx.query(sql.unsafe`UPDATE users SET password_hash = ${user.passwordHash} WHERE id = ${user.id}`)
}

/** The oldest workspace of that name, if any. */
export function workspaceByName(tx: Transaction, name: string) {
  return tx.maybeOne(sql.type(IdRow)`SELECT id FROM workspaces WHERE name = ${name} ORDER BY created_at, id LIMIT 1`)
}

/** The oldest workspace the user owns, if any. */
export function ownWorkspace(tx: Transaction, userId: string) {
  return tx.maybeOne(sql.type(IdRow)`
    SELECT workspace_id AS id FROM memberships WHERE user_id = ${userId} AND role = 'owner'
    ORDER BY created_at, workspace_id LIMIT 1`)
}

export async function insertWorkspace(tx: Transaction, workspace: { id: string; name: string }): Promise<void> {
  await tx.query(sql.unsafe`INSERT INTO workspaces (id, name) VALUES (${workspace.id}, ${workspace.name})`)
}

/** Makes the user a member with that role; an existing membership takes the new role. */
export async function grantRole(
  tx: Transaction,
  membership: { workspaceId: string; userId: string; role: Role },
): Promise<void> {
  await tx.query(sql.unsafe`
    INSERT INTO memberships (workspace_id, user_id, role)
    VALUES (${membership.workspaceId}, ${membership.userId}, ${membership.role})
    ON CONFLICT (workspace_id, user_id) DO UPDATE SET role = excluded.role`)
}

/** Stores an issued token; `expiresInDays` null means that it does not expire. */
export function insertToken(
  tx: Transaction,
  token: {
    id: string
    userId: string
    name: string
    secretHash: Buffer
    scopes: Scope[]
    expiresInDays: number | null
  },
): Promise<number | null> {
  return tx.oneFirst(sql.type(row(Type.Object({ expires_at: nullableTime })))`
    INSERT INTO tokens (id, user_id, name, secret_hash, scopes, expires_at)
    VALUES (${token.id}, ${token.userId}, ${token.name}, ${sql.binary(token.secretHash)},
      ${sql.array(token.scopes, 'text')}, now() + make_interval(secs => ${token.expiresInDays}::float8 * 86400))
    RETURNING expires_at`)
}

/** Serialises bootstraps: two first starts at once must not both create an owner. */
export async function lockBootstrap(tx: Transaction): Promise<void> {
  await tx.query(sql.unsafe`SELECT pg_advisory_xact_lock(hashtextextended('bootstrap', 0))`)
}
