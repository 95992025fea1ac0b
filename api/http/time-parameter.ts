import { Refusal } from '../../shared/errors/errors.ts'

// An ISO 8601 date, then optionally a time with seconds and a fraction, and a zone.
const isoForm =
  /^([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[T ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]{1,9}))?)?(Z|z|[+ -][0-9]{2}(?::?[0-9]{2})?)?)?$/

/**
 * Reads a time in a query: Unix milliseconds, or an ISO 8601 date or date-time. Returns Unix milliseconds. Refuses any
 * other text with 400 `invalid_request`, which names the parameter.
 */
export function readTime(text: string, parameter: string): number {
  const milliseconds = parseTime(text)
  if (milliseconds !== null) return milliseconds
  const message = 'must be Unix milliseconds or an ISO 8601 date or date-time'
  throw new Refusal('invalid_request', { details: { fields: [{ path: `?${parameter}`, message }] } })
}

// Reads Unix milliseconds, or an ISO 8601 date or date-time, which is in UTC when it names no zone. A `+` before the
// zone may have become a space in a URL. Returns Unix milliseconds, or null for any other text.
function parseTime(text: string): number | null {
  if (/^[0-9]{1,16}$/.test(text)) return withinRange(Number(text))
  const match = isoForm.exec(text)
  if (match === null) return null
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1, 7)
    .map((part) => Number(part ?? 0))
  const milliseconds = Math.trunc(Number(`0.${match[7] ?? 0}`) * 1000)
  const local = Date.UTC(year, month - 1, day, hour, minute, second, milliseconds)
  const read = new Date(local)
  const exists =
    read.getUTCMonth() === month - 1 && read.getUTCDate() === day && hour < 24 && minute < 60 && second < 60
  return exists ? withinRange(local - offsetOf(match[8])) : null
}

function offsetOf(zone: string | undefined): number {
  if (zone === undefined || zone.toUpperCase() === 'Z') return 0
  const sign = zone.startsWith('-') ? -1 : 1
  const digits = zone.slice(1).replace(':', '')
  return sign * (Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2))) * 60_000
}

// Bounds a time in Unix milliseconds to what a timestamp column can hold. Every document was changed between the two
// bounds, so a bounded filter finds the same documents.
function withinRange(milliseconds: number): number {
  return Math.min(Math.max(milliseconds, 0), 8.64e15)
}
