import Type from 'typebox'
import { prepared, type Queryable, sql } from '../database/database.ts'
import { row } from '../database/row.ts'
import { keyedHash, sameText } from './keyed-hash.ts'
import { randomText } from './tokens.ts'

/** The user who is signed in. */
export type SignedIn = { userId: string; email: string; name: string }

/** The context in which sessions are stored and found; `secret` is SESSION_SECRET. */
export type SessionStore = { db: Queryable; secret: string }

/** The longest life of a session, and the longest time that it may go unused. */
export type SessionLimits = { days: number; idleHours: number }

/** A session ends after a week, or after a day without use. */
export const sessionLimits: SessionLimits = { days: 7, idleHours: 24 }

const touchEverySeconds = 300

/** A new random id for a browser. The id identifies nobody; `startSession` makes an id that identifies a user. */
export function newBrowserId(): string {
  return randomText(43)
}

/** Whether the value of a cookie has the form of a browser id. */
export function isBrowserId(text: string): boolean {
  return /^[A-Za-z0-9]{43}$/.test(text)
}

/**
 * Begins a session and returns its id. The id is always new, so an attacker who planted or overheard the earlier id of
 * the browser gains nothing.
 */
export async function startSession({ db, secret }: SessionStore, userId: string): Promise<string> {
  const id = newBrowserId()
  await insertSession(db, { idHash: sessionHash(secret, id), userId })
  return id
}

/** The user who is signed in under that id, or null. */
export function findSession({ db, secret }: SessionStore, id: string): Promise<SignedIn | null> {
  return findSessionByHash(db, sessionHash(secret, id))
}

/** The user of the session that is stored under a hash, or null. The session counts as used. */
export async function findSessionByHash(db: Queryable, idHash: Buffer): Promise<SignedIn | null> {
  const found = await sessionWithUser(db, { idHash, limits: sessionLimits })
  if (found === null) return null
  if (found.idle_seconds > touchEverySeconds) await touchSession(db, idHash)
  return { userId: found.user_id, email: found.email, name: found.name }
}

/** The hash under which a session is stored. */
export function sessionHash(secret: string, id: string): Buffer {
  return keyedHash(secret, { purpose: 'session', text: id })
}

/** The channel of NOTIFY that tells collab processes whose sessions have ended: the payload is the id of the user. */
export const endedSessionsChannel = 'svc_ended_sessions'

/** Ends the session that has the id, if there is one. */
export async function endSession({ db, secret }: SessionStore, id: string): Promise<void> {
  await endSessions(db, sql.fragment`id_hash = ${sql.binary(sessionHash(secret, id))}`)
}

/** Ends all sessions of a user. */
export async function deleteSessionsOf(db: Queryable, userId: string): Promise<void> {
  await endSessions(db, sql.fragment`user_id = ${userId}`)
}

async function endSessions(db: Queryable, which: ReturnType<typeof sql.fragment>): Promise<void> {
  await db.query(sql.unsafe`
    WITH ended AS (DELETE FROM sessions WHERE ${which} RETURNING user_id)
    SELECT pg_notify(${endedSessionsChannel}, user_id) FROM ended`)
}

/** The token that the forms of a browser carry. Every browser id has a token of its own. */
export function csrfTokenOf(secret: string, browserId: string): string {
  return keyedHash(secret, { purpose: 'csrf', text: browserId }).toString('base64url')
}

/** Whether the token of a submitted form belongs to the browser. */
export function isCsrfTokenOf(secret: string, submitted: { browserId: string; token: string }): boolean {
  return sameText(csrfTokenOf(secret, submitted.browserId), submitted.token)
}

/**
 * Deletes sessions that are over, links that have expired, and device codes that expired a day ago: at most `batch` of
 * each. Returns how many rows were deleted. Within that day a late poll is still told that its code has expired.
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
    await db.query(sql.unsafe`
      DELETE FROM sign_in_links WHERE ctid = ANY(ARRAY(
        SELECT ctid FROM sign_in_links WHERE expires_at < now() LIMIT ${batch}))`),
  ]
  return results.reduce((sum, { rowCount }) => sum + rowCount, 0)
}

async function insertSession(db: Queryable, session: { idHash: Buffer; userId: string }): Promise<void> {
  await db.query(sql.unsafe`
    INSERT INTO sessions (id_hash, user_id) VALUES (${sql.binary(session.idHash)}, ${session.userId})`)
}

const SessionRow = row(
  Type.Object({ user_id: Type.String(), email: Type.String(), name: Type.String(), idle_seconds: Type.Number() }),
)

function sessionWithUser(db: Queryable, session: { idHash: Buffer; limits: SessionLimits }) {
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

async function touchSession(db: Queryable, idHash: Buffer): Promise<void> {
  await db.query(sql.unsafe`UPDATE sessions SET last_seen_at = now() WHERE id_hash = ${sql.binary(idHash)}`)
}
