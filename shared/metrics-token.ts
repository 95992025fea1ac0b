import { createHash, timingSafeEqual } from 'node:crypto'
import { Refusal } from './errors.ts'

/** Refuses whoever does not carry METRICS_TOKEN as a bearer token; with an empty `expected` everybody may read. */
export function requireMetricsToken(expected: string, authorization: string | undefined): void {
  if (expected === '') return
  const given = /^Bearer +(\S+)$/i.exec(authorization?.trim() ?? '')?.[1]
  if (given !== undefined && timingSafeEqual(digest(given), digest(expected))) return
  const code = authorization === undefined ? 'missing_token' : 'invalid_token'
  throw new Refusal(code, { headers: { 'WWW-Authenticate': 'Bearer realm="metrics"' } })
}

// Digests have the same length, which a comparison in constant time needs.
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
