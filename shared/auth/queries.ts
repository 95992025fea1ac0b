import Type, { type Static } from 'typebox'
import { prepared, type Queryable, sql, type Transaction } from '../database/database.ts'
import { row } from '../database/row.ts'
import { Nullable } from '../schema/identifiers.ts'
import { Role } from './schema.ts'
import type { Scope } from './scopes.ts'

const nullableTime = Nullable(Type.Number())
const IdRow = row(Type.Object({ id: Type.String() }))

const Memberships = Type.Array(Type.Object({ workspace_id: Type.String(), name: Type.String(), role: Role }))

// The memberships of the user `u`, oldest first.
const membershipsOfUser = sql.fragment`
  coalesce(
    (SELECT jsonb_agg(jsonb_build_object('workspace_id', m.workspace_id, 'name', w.name, 'role', m.role)
                      ORDER BY m.created_at, m.workspace_id)
     FROM memberships m JOIN workspaces w ON w.id = m.workspace_id
     WHERE m.user_id = u.id), '[]')`

const TokenShape = Type.Object({
  id: Type.String(),
  secret_hash: Type.Unsafe<Buffer>({}),
  scopes: Type.Array(Type.Unsafe<Scope>(Type.String())),
  expires_at: nullableTime,
  revoked_at: nullableTime,
  last_used_at: nullableTime,
  token_name: Nullable(Type.String()),
  grant_id: Nullable(Type.String()),
  resource: Nullable(Type.String()),
  user_id: Type.String(),
  email: Type.String(),
  name: Type.String(),
  memberships: Memberships,
})
const TokenRow = row(TokenShape)

/** A token with its user and the memberships of the user, oldest first. */
export type TokenWithUser = Static<typeof TokenShape>

/** The tokens with the given ids, each with its user. A token that does not exist is left out. */
export function tokensWithUsers(db: Queryable, tokenIds: readonly string[]): Promise<readonly TokenWithUser[]> {
  return db.any(
    prepared(sql.type(TokenRow)`
    SELECT t.id, t.secret_hash, t.scopes, t.expires_at, t.revoked_at, t.last_used_at, t.name AS token_name, t.grant_id,
      t.resource, u.id AS user_id, u.email, u.name,
      ${membershipsOfUser} AS memberships
    FROM tokens t JOIN users u ON u.id = t.user_id
    WHERE t.id = ANY(${sql.array([...tokenIds], 'text')})`),
  )
}

/** The memberships of a user, oldest first; none when the user does not exist. */
export async function membershipsOf(db: Queryable, userId: string): Promise<Static<typeof Memberships>> {
  const found = await db.maybeOne(
    prepared(sql.type(row(Type.Object({ memberships: Memberships })))`
    SELECT ${membershipsOfUser} AS memberships FROM users u WHERE u.id = ${userId}`),
  )
  return found?.memberships ?? []
}

const NameShape = Type.Object({ id: Type.String(), name: Type.String() })
const NameRow = row(NameShape)

/** The names of users by id. A user who does not exist is left out. */
export async function namesOfUsers(db: Queryable, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const users = await db.any(
    sql.type(NameRow)`SELECT id, name FROM users WHERE id = ANY(${sql.array([...new Set(ids)], 'text')})`,
  )
  return new Map(users.map(({ id, name }) => [id, name]))
}

/**
 * The members of a workspace in whose names a text occurs, in upper or lower case, at most `limit` of them. Names that
 * begin with the text come first.
 */
export function membersNamed(
  db: Queryable,
  { workspaceId, text, limit }: { workspaceId: string; text: string; limit: number },
): Promise<readonly Static<typeof NameShape>[]> {
  return db.any(
    prepared(sql.type(NameRow)`
    SELECT u.id, u.name
    FROM memberships m JOIN users u ON u.id = m.user_id
    WHERE m.workspace_id = ${workspaceId} AND position(lower(${text}) IN lower(u.name)) > 0
    ORDER BY starts_with(lower(u.name), lower(${text})) DESC, u.name, u.id
    LIMIT ${limit}`),
  )
}

/** Notes that a token was used. The caller decides how often, so that not every read becomes a write. */
export async function touchToken(db: Queryable, tokenId: string): Promise<void> {
  await db.query(sql.unsafe`UPDATE tokens SET last_used_at = now() WHERE id = ${tokenId}`)
}

/**
 * Stores an issued token and returns when it expires, in Unix milliseconds. With `expiresInDays` null the token never
 * expires, and the result is null.
 */
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

const ListedTokenRow = row(
  Type.Object({
    id: Type.String(),
    name: Nullable(Type.String()),
    scopes: Type.Array(Type.Unsafe<Scope>(Type.String())),
    created_at: Type.Number(),
    expires_at: nullableTime,
    last_used_at: nullableTime,
  }),
)

/**
 * At most `limit` tokens of a user that are not revoked, newest first; a page begins behind the token `after`. Access
 * tokens of OAuth are left out, because their grants are listed.
 */
export function tokensOf(db: Queryable, page: { userId: string; after: string | null; limit: number }) {
  return db.any(sql.type(ListedTokenRow)`
    SELECT t.id, t.name, t.scopes, t.created_at, t.expires_at, t.last_used_at
    FROM tokens t
    WHERE t.user_id = ${page.userId} AND t.grant_id IS NULL AND t.revoked_at IS NULL
      AND (${page.after}::text IS NULL OR (t.created_at, t.id) <
        (SELECT a.created_at, a.id FROM tokens a WHERE a.id = ${page.after} AND a.user_id = ${page.userId}))
    ORDER BY t.created_at DESC, t.id DESC LIMIT ${page.limit}`)
}

const StandingShape = Type.Object({
  token_id: Type.String(),
  revoked_at: Nullable(Type.Number()),
  expires_at: Nullable(Type.Number()),
  workspace_ids: Type.Array(Type.String()),
})

/** Whether a token still grants access, and which workspaces its user sees; times in Unix milliseconds. */
export type TokenStanding = Static<typeof StandingShape>

/** The standing of each of the tokens; a token that does not exist is left out. */
export function tokenStandings(db: Queryable, tokenIds: readonly string[]): Promise<readonly TokenStanding[]> {
  return db.any(
    prepared(sql.type(row(StandingShape))`
    SELECT t.id AS token_id, t.revoked_at, t.expires_at,
      ARRAY(SELECT m.workspace_id FROM memberships m WHERE m.user_id = t.user_id ORDER BY 1) AS workspace_ids
    FROM tokens t WHERE t.id = ANY(${sql.array([...tokenIds], 'text')})`),
  )
}

/** Revokes a token; false when there is no such token. The time of the first revocation is kept. */
export async function revokeToken(db: Queryable, tokenId: string): Promise<boolean> {
  const result = await db.query(sql.unsafe`
    UPDATE tokens SET revoked_at = coalesce(revoked_at, now()) WHERE id = ${tokenId}`)
  return result.rowCount === 1
}

/** Revokes a token if it belongs to the user; false otherwise. The time of the first revocation is kept. */
export async function revokeTokenOf(db: Queryable, token: { userId: string; id: string }): Promise<boolean> {
  const { rowCount } = await db.query(sql.unsafe`
    UPDATE tokens SET revoked_at = coalesce(revoked_at, now())
    WHERE id = ${token.id} AND user_id = ${token.userId}`)
  return rowCount === 1
}

/** Revokes a token if its secret has the hash; changes nothing otherwise. The time of the first revocation is kept. */
export async function revokeTokenWithHash(tx: Transaction, token: { id: string; secretHash: Buffer }): Promise<void> {
  await tx.query(sql.unsafe`
    UPDATE tokens SET revoked_at = coalesce(revoked_at, now())
    WHERE id = ${token.id} AND secret_hash = ${sql.binary(token.secretHash)}`)
}

/**
 * Locks the row of a user until the transaction ends. Statements that insert rows with a foreign key to the user do not
 * wait.
 */
export async function lockUser(tx: Transaction, userId: string): Promise<void> {
  await tx.query(sql.unsafe`SELECT FROM users WHERE id = ${userId} FOR NO KEY UPDATE`)
}

/**
 * Counts the tokens of a user that are neither revoked nor expired. A grant of OAuth counts as one token, however many
 * access tokens its program gets.
 */
export function liveTokens(db: Queryable, userId: string): Promise<number> {
  return db.oneFirst(sql.type(row(Type.Object({ count: Type.Number() })))`
    SELECT
      (SELECT count(*) FROM tokens
       WHERE user_id = ${userId} AND grant_id IS NULL AND revoked_at IS NULL
         AND (expires_at IS NULL OR expires_at > now()))
      + (SELECT count(*) FROM oauth_grants
         WHERE user_id = ${userId} AND revoked_at IS NULL AND expires_at > now()) AS count`)
}

/** Whether any user exists. An empty database gets an owner at its first start. */
export function anyUserExists(db: Queryable): Promise<boolean> {
  return db.oneFirst(
    sql.type(row(Type.Object({ exists: Type.Boolean() })))`SELECT EXISTS (SELECT FROM users) AS exists`,
  )
}

/** Creates a user, or finds the user who has the email already; emails are compared without case. */
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

const CredentialsRow = row(Type.Object({ id: Type.String(), password_hash: Nullable(Type.String()) }))

/** The user of an email, compared without case, with the hash of the password; null when nobody has the email. */
export function credentialsByEmail(db: Queryable, email: string) {
  return db.maybeOne(sql.type(CredentialsRow)`
    SELECT id, password_hash FROM users WHERE lower(email) = lower(${email})`)
}

/**
 * The form in which the database compares an email. JavaScript cannot compute the form: the locale of the database may
 * turn `İ` into `i`, which JavaScript never does.
 */
export function comparedEmail(db: Queryable, email: string): Promise<string> {
  return db.oneFirst(sql.type(row(Type.Object({ email: Type.String() })))`SELECT lower(${email}) AS email`)
}

/** Replaces a user's password hash. */
export async function setPasswordHash(tx: Transaction, user: { id: string; passwordHash: string }): Promise<void> {
  await tx.query(sql.unsafe`UPDATE users SET password_hash = ${user.passwordHash} WHERE id = ${user.id}`)
}

/** The oldest workspace with the name, or null. */
export function workspaceByName(tx: Transaction, name: string) {
  return tx.maybeOne(sql.type(IdRow)`SELECT id FROM workspaces WHERE name = ${name} ORDER BY created_at, id LIMIT 1`)
}

/** The oldest workspace that the user owns, or null. */
export function ownWorkspace(tx: Transaction, userId: string) {
  return tx.maybeOne(sql.type(IdRow)`
    SELECT workspace_id AS id FROM memberships WHERE user_id = ${userId} AND role = 'owner'
    ORDER BY created_at, workspace_id LIMIT 1`)
}

export async function insertWorkspace(tx: Transaction, workspace: { id: string; name: string }): Promise<void> {
  await tx.query(sql.unsafe`INSERT INTO workspaces (id, name) VALUES (${workspace.id}, ${workspace.name})`)
}

/** Makes the user a member with that role. A member of another role gets the new role. */
export async function grantRole(
  tx: Transaction,
  membership: { workspaceId: string; userId: string; role: Role },
): Promise<void> {
  await tx.query(sql.unsafe`
    INSERT INTO memberships (workspace_id, user_id, role)
    VALUES (${membership.workspaceId}, ${membership.userId}, ${membership.role})
    ON CONFLICT (workspace_id, user_id) DO UPDATE SET role = excluded.role`)
}

/** Lets one bootstrap run at a time, so that two first starts do not both create an owner. */
export async function lockBootstrap(tx: Transaction): Promise<void> {
  await tx.query(sql.unsafe`SELECT pg_advisory_xact_lock(hashtextextended('bootstrap', 0))`)
}
