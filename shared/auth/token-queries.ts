import Type from 'typebox'
import { type Queryable, sql, type Transaction } from '../database/database.ts'
import { row } from '../database/row.ts'
import type { Scope } from './scopes.ts'

const nullableTime = Type.Union([Type.Number(), Type.Null()])

const ListedTokenRow = row(
  Type.Object({
    id: Type.String(),
    name: Type.Union([Type.String(), Type.Null()]),
    scopes: Type.Array(Type.Unsafe<Scope>(Type.String())),
    created_at: Type.Number(),
    expires_at: nullableTime,
    last_used_at: nullableTime,
  }),
)

/** The tokens of a user that were not revoked, newest first, at most `limit` from the one after `after` on. */
export function tokensOf(db: Queryable, page: { userId: string; after: string | null; limit: number }) {
  return db.any(sql.type(ListedTokenRow)`
    SELECT t.id, t.name, t.scopes, t.created_at, t.expires_at, t.last_used_at
    FROM tokens t
    WHERE t.user_id = ${page.userId} AND t.revoked_at IS NULL
      AND (${page.after}::text IS NULL OR (t.created_at, t.id) <
        (SELECT a.created_at, a.id FROM tokens a WHERE a.id = ${page.after} AND a.user_id = ${page.userId}))
    ORDER BY t.created_at DESC, t.id DESC LIMIT ${page.limit}`)
}

/** Holds a user until the transaction ends against others that do the same; nobody else waits. */
export async function lockUser(tx: Transaction, userId: string): Promise<void> {
  await tx.query(sql.unsafe`SELECT FROM users WHERE id = ${userId} FOR NO KEY UPDATE`)
}

/** How many tokens of a user are neither revoked nor expired. */
export function liveTokens(db: Queryable, userId: string): Promise<number> {
  return db.oneFirst(sql.type(row(Type.Object({ count: Type.Number() })))`
    SELECT count(*) AS count FROM tokens
    WHERE user_id = ${userId} AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())`)
}

/** Revokes a token of that user; false when there is none. Revoking twice keeps the first time. */
export async function revokeTokenOf(db: Queryable, token: { userId: string; id: string }): Promise<boolean> {
  const { rowCount } = await db.query(sql.unsafe`
    UPDATE tokens SET revoked_at = coalesce(revoked_at, now())
    WHERE id = ${token.id} AND user_id = ${token.userId}`)
  return rowCount === 1
}
