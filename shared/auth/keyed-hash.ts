import { createHmac, timingSafeEqual } from 'node:crypto'

/**
 * HMAC-SHA-256 of a text under a secret of the service. `purpose` is hashed with the text, so that a hash made for one
 * purpose is worth nothing for another.
 */
export function keyedHash(secret: string, input: { purpose: string; text: string }): Buffer {
  return createHmac('sha256', secret).update(`${input.purpose}\u0000${input.text}`).digest()
}

/** Compares two texts in constant time. */
export function sameText(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}
