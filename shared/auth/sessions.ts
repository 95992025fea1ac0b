import type { Queryable } from '../database/database.ts'
import { keyedHash, sameText } from './keyed-hash.ts'
import * as queries from './session-queries.ts'
import { randomText } from './tokens.ts'

/** Who is signed in. */
export type SignedIn = { userId: string; email: string; name: string }

/** What sessions are made and found with; `secret` is SESSION_SECRET. */
export type SessionStore = { db: Queryable; secret: string }

/** A week at most, and a day without use. */
export const sessionLimits: queries.SessionLimits = { days: 7, idleHours: 24 }

/** A new random id for a browser; it stands for nobody until `startSession` has made one for a user. */
export function newBrowserId(): string {
  return randomText(43)
}

/** Whether a cookie's value can be the id of a browser. */
export function isBrowserId(text: string): boolean {
  return /^[A-Za-z0-9]{43}$/.test(text)
}

/**
 * Begins a session and returns its id, which is always a fresh one: whoever planted or knew the id that the browser had
 * before gains nothing.
 */
export async function startSession({ db, secret }: SessionStore, userId: string): Promise<string> {
  const id = newBrowserId()
  await queries.insertSession(db, { idHash: hashOf(secret, id), userId })
  return id
}

/** Who is signed in under that id, or null. */
export async function findSession({ db, secret }: SessionStore, id: string): Promise<SignedIn | null> {
  const idHash = hashOf(secret, id)
  const found = await queries.sessionWithUser(db, { idHash, limits: sessionLimits })
  if (found === null) return null
  if (found.idle_seconds > touchEverySeconds) await queries.touchSession(db, idHash)
  return { userId: found.user_id, email: found.email, name: found.name }
}

/** Ends the session of that id, if there is one. */
export async function endSession({ db, secret }: SessionStore, id: string): Promise<void> {
  await queries.deleteSession(db, hashOf(secret, id))
}

/** The token that the forms of a browser carry; another browser, or the same after signing in, has another. */
export function csrfTokenOf(secret: string, browserId: string): string {
  return keyedHash(secret, { purpose: 'csrf', text: browserId }).toString('base64url')
}

/** Whether a submitted token is that of the browser. */
export function isCsrfTokenOf(secret: string, submitted: { browserId: string; token: string }): boolean {
  return sameText(csrfTokenOf(secret, submitted.browserId), submitted.token)
}

const touchEverySeconds = 300

function hashOf(secret: string, id: string): Buffer {
  return keyedHash(secret, { purpose: 'session', text: id })
}
