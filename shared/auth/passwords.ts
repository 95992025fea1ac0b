import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { Turns } from '../turns/turns.ts'

const derive = promisify<string, Buffer, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(scrypt)

// OWASP's recommended scrypt parameters (N = 2^17, r = 8, p = 1): 128 MiB and some 0.3 s a guess.
const cost = { N: 131_072, r: 8, p: 1, maxmem: 256 * 1024 * 1024 }
const keyLength = 32
const form = /^scrypt\$(\d{1,7})\$([A-Za-z0-9_-]+)\$([A-Za-z0-9_-]+)$/

// Each takes 128 MiB and a thread of four: what arrives together waits, and what cannot wait is sent away. Of one address
// fewer may wait than in all, so that whoever tries passwords keeps nobody else from signing in.
const turns = new Turns({ atOnce: 2, ofOneUser: 1, waiting: 40, waitingOfOneUser: 10, patienceMs: 30_000 })

/** Hashes a password with a fresh salt: `scrypt$<N>$<salt>$<key>`, base64url. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16)
  const key = await derive(password.normalize('NFKC'), salt, keyLength, cost)
  return ['scrypt', cost.N, salt.toString('base64url'), key.toString('base64url')].join('$')
}

/**
 * Whether the password has that hash. Without a hash (no such user, or one without a password) it is false after just
 * as much work, so that the time taken says nothing. 503 `service_unavailable` while too many wait for their turn.
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
