import { randomBytes, scrypt } from 'node:crypto'
import { promisify } from 'node:util'

const derive = promisify<string, Buffer, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(scrypt)

// OWASP's recommended scrypt parameters (N = 2^17, r = 8, p = 1): 128 MiB and some 0.3 s a guess.
const cost = { N: 131_072, r: 8, p: 1, maxmem: 256 * 1024 * 1024 }
const keyLength = 32

/** Hashes a password with a fresh salt: `scrypt$<N>$<salt>$<key>`, base64url. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16)
  const key = await derive(password.normalize('NFKC'), salt, keyLength, cost)
  return ['scrypt', cost.N, salt.toString('base64url'), key.toString('base64url')].join('$')
}
