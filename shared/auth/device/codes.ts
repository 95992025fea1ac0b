import { randomInt } from 'node:crypto'
import { keyedHash } from '../keyed-hash.ts'
import { randomText } from '../tokens.ts'

// Without vowels, so that no words come out, and without letters that are taken for one another (decisions 4.1).
const alphabet = 'BCDFGHJKLMNPQRSTVWXZ'
const half = 4

/** The secret that the client polls with. */
export function newDeviceCode(): string {
  return randomText(43)
}

/** The code that a person reads and types: `XXXX-XXXX`. */
export function newUserCode(): string {
  const letters = Array.from({ length: 2 * half }, () => alphabet[randomInt(alphabet.length)]).join('')
  return `${letters.slice(0, half)}-${letters.slice(half)}`
}

/** What a person typed as `XXXX-XXXX`: case, dashes and spaces do not matter. Null when it cannot be a code. */
export function readUserCode(typed: string): string | null {
  const letters = typed.replaceAll(/[\s\p{Pd}]/gu, '').toUpperCase()
  const isCode = letters.length === 2 * half && [...letters].every((letter) => alphabet.includes(letter))
  return isCode ? `${letters.slice(0, half)}-${letters.slice(half)}` : null
}

/** Both codes are stored as this alone. */
export function codeHash(pepper: string, code: { kind: 'device code' | 'user code'; text: string }): Buffer {
  return keyedHash(pepper, { purpose: code.kind, text: code.text })
}
