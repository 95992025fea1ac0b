import { createHash, timingSafeEqual } from 'node:crypto'
import { Refusal } from '../errors/errors.ts'

/**
 * The token of an Authorization header. Refuses with 401: `missing_token` without a header, `invalid_token` when the
 * header has another form than `Bearer <token>`. The message says what is wrong and never repeats what was sent.
 */
export function bearerToken(authorization: string | undefined, realm: string): string {
  const header = authorization?.trim() ?? ''
  if (header === '') {
    const message = 'The Authorization header is missing: send "Authorization: Bearer <token>".'
    throw new Refusal('missing_token', { message, headers: { 'WWW-Authenticate': `Bearer realm="${realm}"` } })
  }
  const token = /^Bearer +(\S+)$/i.exec(header)?.[1]
  if (token !== undefined) return token
  const challenge = `Bearer realm="${realm}", error="invalid_token"`
  throw new Refusal('invalid_token', { message: malformation(header), headers: { 'WWW-Authenticate': challenge } })
}

/**
 * Refuses with 401 unless the Authorization header carries METRICS_TOKEN as a bearer token. An empty `expected` lets
 * everybody read.
 */
export function requireMetricsToken(expected: string, authorization: string | undefined): void {
  if (expected === '') return
  const given = bearerToken(authorization, 'metrics')
  if (timingSafeEqual(digest(given), digest(expected))) return
  const challenge = 'Bearer realm="metrics", error="invalid_token"'
  throw new Refusal('invalid_token', { headers: { 'WWW-Authenticate': challenge } })
}

// The word before the first space may be the token itself, so the message does not repeat that word either.
function malformation(header: string): string {
  const form = 'send "Authorization: Bearer <token>"'
  if (/^Bearer$/i.test(header)) return `The Authorization header has no token after "Bearer": ${form}.`
  if (/^Bearer\s/i.test(header)) return `The Authorization header has more than one token after "Bearer": ${form}.`
  if (/^\S+$/.test(header)) return `The Authorization header has no "Bearer" before the token: ${form}.`
  return `The Authorization header has another scheme than "Bearer": ${form}.`
}

// Digests have the same length, which a comparison in constant time needs.
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
