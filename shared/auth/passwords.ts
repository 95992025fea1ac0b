import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import type { Queryable } from '../database/database.ts'
import { Turns } from '../turns/turns.ts'
import { credentialsByEmail } from './queries.ts'

const derive = promisify<string, Buffer, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(scrypt)

// OWASP's recommended scrypt parameters (N = 2^17, r = 8, p = 1): one guess costs 128 MiB and some 0.3 s.
const cost = { N: 131_072, r: 8, p: 1, maxmem: 256 * 1024 * 1024 }
const keyLength = 32
const form = /^scrypt\$(\d{1,7})\$([A-Za-z0-9_-]+)\$([A-Za-z0-9_-]+)$/

// A derivation takes 128 MiB and one of the four threads of Node's pool, so derivations wait for their turn. One of an
// address runs at a time and 10 wait: an attacker who tries passwords keeps nobody else from signing in.
const turns = new Turns({ atOnce: 2, ofOneUser: 1, waiting: 200, waitingOfOneUser: 10, patienceMs: 30_000 })

/**
 * Hashes a password with a fresh salt: `scrypt$<N>$<salt>$<key>`, base64url. Refuses with 503 `service_unavailable`
 * while too many passwords wait for their turn.
 */
export function hashPassword(password: string): Promise<string> {
  return turns.run(async () => {
    const salt = randomBytes(16)
    const key = await derive(password.normalize('NFKC'), salt, keyLength, cost)
    return ['scrypt', cost.N, salt.toString('base64url'), key.toString('base64url')].join('$')
  })
}

/**
 * The id of the user who has this email and this password, or null. An unknown email, a user without a password and a
 * wrong password get the same answer after the same work. Refuses with 503 `service_unavailable` while too many
 * sign-ins wait for their turn.
 */
export async function checkPassword(
  db: Queryable,
  credentials: { email: string; password: string },
): Promise<string | null> {
  const user = await credentialsByEmail(db, credentials.email.trim())
  const isRight = await verifyPassword(credentials.password, user?.password_hash ?? null)
  return user !== null && isRight ? user.id : null
}

/**
 * Whether a password is the one of a hash. Without a hash the answer is false, after the same work. So the time taken
 * does not tell whether there is a hash. Refuses with 503 `service_unavailable` while too many passwords wait for their
 * turn.
 */
export function verifyPassword(password: string, hash: string | null): Promise<boolean> {
  return turns.run(async () => {
    const [, N, salt = '', key = ''] = form.exec(hash ?? '') ?? []
    const stored = Buffer.from(key, 'base64url')
    const parameters = { ...cost, N: N === undefined ? cost.N : Number(N) }
    const given = await derive(password.normalize('NFKC'), Buffer.from(salt, 'base64url'), keyLength, parameters)
    return stored.length === given.length && timingSafeEqual(stored, given)
  })
}
