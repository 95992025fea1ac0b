import { createHmac, timingSafeEqual } from 'node:crypto'

/**
 * HMAC-SHA-256 of a text under a secret of the service. `purpose` keeps apart what the same secret is used for, so that
 * no value made for one can stand in for another.
 */
export function keyedHash(secret: string, input: { purpose: string; text: string }): Buffer {
  return createHmac('sha256', secret).update(`${input.purpose}\u0000${input.text}`).digest()
}

/** Compares two texts in constant time. */
export function sameText(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}
