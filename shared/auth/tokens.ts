import { createHmac, randomInt, timingSafeEqual } from 'node:crypto'
import { newId, ulidPattern } from '../schema/ids.ts'

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const secretLength = 43
const bearerForm = new RegExp(`^svc_(tok_${ulidPattern})_([A-Za-z0-9]{${secretLength}})$`)

/** A new token: its id, the full bearer value `svc_<token id>_<secret>` to show once, and the hash to store. */
export function issueToken(pepper: string): { id: string; bearer: string; secretHash: Buffer } {
  const id = newId('tok')
  const secret = randomText(secretLength)
  return { id, bearer: `svc_${id}_${secret}`, secretHash: hashSecret(secret, pepper) }
}

/** Splits a bearer value (decisions 5), or null when it does not have the form. */
export function parseBearer(bearer: string): { id: string; secret: string } | null {
  const match = bearerForm.exec(bearer)
  return match?.[1] !== undefined && match[2] !== undefined ? { id: match[1], secret: match[2] } : null
}

/** Compares in constant time a presented secret with the stored HMAC-SHA-256. */
export function secretMatches(input: { secret: string; storedHash: Buffer; pepper: string }): boolean {
  const given = hashSecret(input.secret, input.pepper)
  return given.length === input.storedHash.length && timingSafeEqual(given, input.storedHash)
}

/** Random base62 text from a cryptographic source. */
export function randomText(length: number): string {
  return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('')
}

function hashSecret(secret: string, pepper: string): Buffer {
  return createHmac('sha256', pepper).update(secret).digest()
}
