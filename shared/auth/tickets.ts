import { keyedHash, sameText } from './keyed-hash.ts'
import { sessionHash } from './sessions.ts'

// The life of a ticket. The page of an editor asks for a ticket right before each connection.
const lifetimeMs = 60_000
const prefix = 'svc_tik_'
const form = /^svc_tik_([A-Za-z0-9_-]{1,2000})\.([A-Za-z0-9_-]{43})$/

/** The facts that a ticket proves: which user may edit which document, in which browser session. */
export type Ticket = {
  documentId: string
  userId: string
  /** The hash of the session's id, in hexadecimal digits, as the table of sessions has it. */
  sessionHash: string
}

/**
 * Makes a ticket `svc_tik_…`, with which a page of a signed-in browser opens one document for live editing. The ticket
 * counts for 60 seconds. The signature lets every process verify a ticket without a table of tickets; `secret` is
 * SESSION_SECRET, and `sessionId` the id of the browser's session.
 */
export function mintTicket(
  secret: string,
  facts: { documentId: string; userId: string; sessionId: string; now?: number },
): string {
  const { documentId, userId, sessionId, now = Date.now() } = facts
  const hash = sessionHash(secret, sessionId).toString('hex')
  const text = JSON.stringify([documentId, userId, hash, now + lifetimeMs])
  const payload = Buffer.from(text).toString('base64url')
  return `${prefix}${payload}.${signatureOf(secret, payload)}`
}

/** Whether a text is a ticket by its beginning; it may still be forged or expired. */
export function isTicket(text: string): boolean {
  return text.startsWith(prefix)
}

/**
 * The facts of a genuine ticket that has not expired; null for any other text. Whether the session still exists, and
 * what its user may do, is for the caller to look up.
 */
export function readTicket(secret: string, text: string, now: number = Date.now()): Ticket | null {
  const [, payload = '', signature = ''] = form.exec(text) ?? []
  if (payload === '' || !sameText(signature, signatureOf(secret, payload))) return null
  const [documentId, userId, hash, expiresAt] = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Payload
  return expiresAt > now ? { documentId, userId, sessionHash: hash } : null
}

type Payload = [documentId: string, userId: string, sessionHash: string, expiresAt: number]

// The purpose keeps the signatures of tickets apart from everything else that the secret signs.
function signatureOf(secret: string, payload: string): string {
  return keyedHash(secret, { purpose: 'ticket', text: payload }).toString('base64url')
}
