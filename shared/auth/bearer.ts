import { Refusal } from '../errors/errors.ts'

/**
 * The token of an Authorization header. Refuses with 401 `missing_token` when there is no header and `invalid_token` when
 * it has another form than `Bearer <token>`; the message says what is wrong and never repeats what was sent.
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

// What stands before the first space may be the token itself, so it is not repeated either.
function malformation(header: string): string {
  const form = 'send "Authorization: Bearer <token>"'
  if (/^Bearer$/i.test(header)) return `The Authorization header has no token after "Bearer": ${form}.`
  if (/^Bearer\s/i.test(header)) return `The Authorization header has more than one token after "Bearer": ${form}.`
  if (/^\S+$/.test(header)) return `The Authorization header has no "Bearer" before the token: ${form}.`
  return `The Authorization header has another scheme than "Bearer": ${form}.`
}
