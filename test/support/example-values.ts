import { createHash } from 'node:crypto'
import type { ToldCall } from './api-story.ts'

/**
 * Replaces all values of the calls that differ from run to run by fixed values of the same form: ids, hashes, times,
 * secrets, cursors and the address of the service. Equal values are replaced by equal values.
 */
export function withExampleValues(calls: readonly ToldCall[], origin: string): ToldCall[] {
  const ids = numbered((n, prefix) => `${prefix}01KAM5Z8Q0${crockford(n)}`)
  const hashes = numbered((n) => createHash('sha256').update(`example ${n}`).digest('hex'))
  const cursors = numbered((n) => Buffer.from(`cursor ${n}`).toString('base64url'))
  const replaced = (name: string, value: string) =>
    isCursor(name)
      ? cursors(value)
      : value
          .replace(/(?<=[?&](?:after|cursor)=)[^&]+/, (cursor) => cursors(cursor))
          .replaceAll(origin, exampleOrigin)
          .replace(/svc_tok_[0-9A-Z]{26}_[A-Za-z0-9]{43}/g, `svc_tok_01KAM5Z8Q00000000000000000_${'x'.repeat(43)}`)
          .replace(/\b([a-z]+_)([0-9A-HJKMNP-TV-Z]{26})\b/g, (id, prefix: string) => ids(id, prefix))
          .replace(/(?<=sha256:)[0-9a-f]{64}/g, (hash) => hashes(hash))
          .replace(/\b[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}\b/g, 'BCDF-GHJK')
  return JSON.parse(
    JSON.stringify(calls, (name, value: unknown) => {
      if (name === 'device_code') return 'd'.repeat(43)
      if (typeof value === 'number' && isTime(name)) return exampleTime
      return typeof value === 'string' ? replaced(name, value) : value
    }),
  ) as ToldCall[]
}

/** The address of the service in the examples. */
const exampleOrigin = 'https://documents.example'

/** 2026-11-22 12:00 UTC, in Unix milliseconds. */
const exampleTime = Date.UTC(2026, 10, 22, 12)

function isTime(name: string): boolean {
  return /(?:_at|^at)$/.test(name)
}

function isCursor(name: string): boolean {
  return /^(?:next_)?cursor$/.test(name)
}

// Numbers the values of a kind from 1 in the order of their first occurrence.
function numbered(write: (n: number, hint: string) => string): (value: string, hint?: string) => string {
  const known = new Map<string, string>()
  return (value, hint = '') => {
    const found = known.get(value) ?? write(known.size + 1, hint)
    known.set(value, found)
    return found
  }
}

// Sixteen characters of the ULID alphabet.
function crockford(n: number): string {
  const digits = n.toString(32).replace(/[a-v]/g, (digit) => 'ABCDEFGHJKMNPQRSTVWXYZ'[digit.charCodeAt(0) - 97] ?? '0')
  return digits.padStart(16, '0')
}
