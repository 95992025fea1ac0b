import { createHash, timingSafeEqual } from 'node:crypto'
import { Refusal } from '../errors/errors.ts'
import { bearerToken } from './bearer.ts'

/** Refuses whoever does not carry METRICS_TOKEN as a bearer token; with an empty `expected` everybody may read. */
export function requireMetricsToken(expected: string, authorization: string | undefined): void {
  if (expected === '') return
  const given = bearerToken(authorization, 'metrics')
  if (timingSafeEqual(digest(given), digest(expected))) return
  const challenge = 'Bearer realm="metrics", error="invalid_token"'
  throw new Refusal('invalid_token', { headers: { 'WWW-Authenticate': challenge } })
}

// Digests have the same length, which a comparison in constant time needs.
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
