import Type from 'typebox'
import { prepared, type Queryable, sql } from '../database/database.ts'
import { row } from '../database/row.ts'

/** How long a session lasts at most, and without being used. */
export type SessionLimits = { days: number; idleHours: number }

const CredentialsRow = row(Type.Object({ id: Type.String(), password_hash: Type.Union([Type.String(), Type.Null()]) }))

/** The user of that email, compared without case, with the hash of the password. */
export function credentialsByEmail(db: Queryable, email: string) {
  return db.maybeOne(sql.type(CredentialsRow)`
    SELECT id, password_hash FROM users WHERE lower(email) = lower(${email})`)
}

/**
 * The form in which the database compares an email. Only the database can tell: under its locale `İ` may be `i`, which
 * it never is to JavaScript.
 */
export function comparedEmail(db: Queryable, email: string): Promise<string> {
  return db.oneFirst(sql.type(row(Type.Object({ email: Type.String() })))`SELECT lower(${email}) AS email`)
}

/** Stores a session under the hash of its id. */
export async function insertSession(db: Queryable, session: { idHash: Buffer; userId: string }): Promise<void> {
  await db.query(sql.unsafe`
    INSERT INTO sessions (id_hash, user_id) VALUES (${sql.binary(session.idHash)}, ${session.userId})`)
}

const SessionRow = row(
  Type.Object({ user_id: Type.String(), email: Type.String(), name: Type.String(), idle_seconds: Type.Number() }),
)

/** The user of a session that has neither ended nor been idle for too long; null otherwise. */
export function sessionWithUser(db: Queryable, session: { idHash: Buffer; limits: SessionLimits }) {
  const { days, idleHours } = session.limits
  return db.maybeOne(
    prepared(sql.type(SessionRow)`
    SELECT u.id AS user_id, u.email, u.name, extract(epoch FROM now() - s.last_seen_at)::float8 AS idle_seconds
    FROM sessions s JOIN users u ON u.id = s.user_id
    WHERE s.id_hash = ${sql.binary(session.idHash)}
      AND s.created_at > now() - make_interval(days => ${days})
      AND s.last_seen_at > now() - make_interval(hours => ${idleHours})`),
  )
}

/** Notes that a session is in use; the caller decides how often, so that reads do not become writes. */
export async function touchSession(db: Queryable, idHash: Buffer): Promise<void> {
  await db.query(sql.unsafe`UPDATE sessions SET last_seen_at = now() WHERE id_hash = ${sql.binary(idHash)}`)
}

export async function deleteSession(db: Queryable, idHash: Buffer): Promise<void> {
  await db.query(sql.unsafe`DELETE FROM sessions WHERE id_hash = ${sql.binary(idHash)}`)
}

/** Signs a user out everywhere. */
export async function deleteSessionsOf(db: Queryable, userId: string): Promise<void> {
  await db.query(sql.unsafe`DELETE FROM sessions WHERE user_id = ${userId}`)
}

/**
 * Forgets sessions that are over and device codes a day after they have expired, at most `batch` of each; until then a
 * late poll is told that its code has expired.
 */
export async function deleteExpiredSignIns(
  db: Queryable,
  limits: { session: SessionLimits; batch: number },
): Promise<number> {
  const { session, batch } = limits
  const results = [
    await db.query(sql.unsafe`
      DELETE FROM sessions WHERE ctid = ANY(ARRAY(
        SELECT ctid FROM sessions
        WHERE created_at < now() - make_interval(days => ${session.days})
          OR last_seen_at < now() - make_interval(hours => ${session.idleHours})
        LIMIT ${batch}))`),
    await db.query(sql.unsafe`
      DELETE FROM device_codes WHERE ctid = ANY(ARRAY(
        SELECT ctid FROM device_codes WHERE expires_at < now() - interval '1 day' LIMIT ${batch}))`),
  ]
  return results.reduce((sum, { rowCount }) => sum + rowCount, 0)
}
