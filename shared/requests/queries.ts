import Type from 'typebox'
import { prepared, type Queryable, sql, type Transaction } from '../database/database.ts'
import { row } from '../database/row.ts'

/**
 * The use of an Idempotency-Key; a key is looked up within its credential, method and path. The credential is that of a
 * caller, or the user of a page. The column `token_id` has its id.
 */
export type IdempotencyScope = { credentialId: string; method: string; path: string; key: string }

const nullableText = Type.Union([Type.String(), Type.Null()])

const RememberedRow = row(
  Type.Object({
    fingerprint: Type.Unsafe<Buffer>({}),
    status: Type.Integer(),
    data: nullableText,
    etag: nullableText,
    location: nullableText,
    workspace_id: nullableText,
  }),
)

const LockedRow = row(Type.Object({ locked: Type.Boolean() }))

/**
 * Takes the lock of one key until the transaction ends; false when another request has the lock. The function does not
 * wait for the lock, so that a duplicate can be refused with `idempotency_in_progress` at once.
 */
export function lockIdempotencyKey(tx: Transaction, scope: IdempotencyScope): Promise<boolean> {
  const text = JSON.stringify([scope.credentialId, scope.method, scope.path, scope.key])
  return tx.oneFirst(
    prepared(sql.type(LockedRow)`
    SELECT pg_try_advisory_xact_lock(hashtextextended(${text}, 0)) AS locked`),
  )
}

/** The first answer to the key; null when there is none, or when its lifetime is over. */
export function rememberedAnswer(tx: Transaction, scope: IdempotencyScope & { lifetimeHours: number }) {
  return tx.maybeOne(
    prepared(sql.type(RememberedRow)`
    SELECT fingerprint, status, data, etag, location, workspace_id FROM idempotency_keys
    WHERE token_id = ${scope.credentialId} AND method = ${scope.method} AND path = ${scope.path} AND key = ${scope.key}
      AND completed_at > now() - ${scope.lifetimeHours}::float8 * interval '1 hour'`),
  )
}

/** Remembers the answer to a key. An expired answer to the same key is replaced. */
export async function rememberAnswer(
  tx: Transaction,
  answer: IdempotencyScope & {
    fingerprint: Buffer
    status: number
    data: string | null
    etag: string | null
    location: string | null
    workspaceId: string | null
  },
): Promise<void> {
  await tx.query(
    prepared(sql.unsafe`
    INSERT INTO idempotency_keys
      (token_id, method, path, key, fingerprint, status, data, etag, location, workspace_id)
    VALUES (${answer.credentialId}, ${answer.method}, ${answer.path}, ${answer.key}, ${sql.binary(answer.fingerprint)},
      ${answer.status}, ${answer.data}, ${answer.etag}, ${answer.location}, ${answer.workspaceId})
    ON CONFLICT (token_id, method, path, key) DO UPDATE SET
      fingerprint = excluded.fingerprint, status = excluded.status, data = excluded.data, etag = excluded.etag,
      location = excluded.location, workspace_id = excluded.workspace_id, completed_at = excluded.completed_at`),
  )
}

/**
 * Deletes idempotency keys, rate-limit windows and audit entries whose time is over, at most `batch` of each. Returns
 * how many rows were deleted.
 */
export async function deleteExpired(
  db: Queryable,
  limits: { idempotencyHours: number; auditDays: number; batch: number },
): Promise<number> {
  const results = [
    await db.query(sql.unsafe`
      DELETE FROM idempotency_keys WHERE ctid = ANY(ARRAY(
        SELECT ctid FROM idempotency_keys
        WHERE completed_at < now() - make_interval(hours => ${limits.idempotencyHours}) LIMIT ${limits.batch}))`),
    await db.query(sql.unsafe`
      DELETE FROM rate_limit_windows WHERE ctid = ANY(ARRAY(
        SELECT ctid FROM rate_limit_windows
        WHERE expire < extract(epoch FROM now()) * 1000 - 3600000 LIMIT ${limits.batch}))`),
    // Entries are numbered as they are written, so the oldest are found without an index of their times.
    await db.query(sql.unsafe`
      DELETE FROM audit_log WHERE id = ANY(ARRAY(
        SELECT id FROM (SELECT id, created_at FROM audit_log ORDER BY id LIMIT ${limits.batch}) AS oldest
        WHERE created_at < now() - make_interval(days => ${limits.auditDays})))`),
  ]
  return results.reduce((sum, { rowCount }) => sum + rowCount, 0)
}
