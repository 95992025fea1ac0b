import Type from 'typebox'
import { codePoints } from './code-points.ts'

type TextOptions = { min?: number; max?: number; description?: string; pattern?: string }

/**
 * A string without U+0000 and lone surrogates, whose length counts Unicode code points. TypeBox's own `maxLength`
 * counts graphemes, and PostgreSQL cannot store U+0000. See api/guide/requests.md#text.
 */
export function Text(options: TextOptions = {}) {
  const { min = 0, max = Number.POSITIVE_INFINITY, ...schema } = options
  const lengths = { ...(min > 0 && { minLength: min }), ...(Number.isFinite(max) && { maxLength: max }) }
  return refined({ ...schema, ...lengths }, (value) => within(value, { min, max }), lengthRule(min, max))
}

/** A `Text` for names, titles and aliases. The length counts after trimming; the caller stores `value.trim()`. */
export function TrimmedText(options: TextOptions = {}) {
  const { min = 0, max = Number.POSITIVE_INFINITY, ...schema } = options
  const rule = `${lengthRule(min, max)} after trimming`
  const description = [schema.description, rule].filter(Boolean).join('; ')
  return refined({ ...schema, description }, (value) => within(value.trim(), { min, max }), rule)
}

/** Whether PostgreSQL and JSON can both carry the text unchanged. */
export function isStorable(value: string): boolean {
  return value.isWellFormed() && !value.includes('\u0000')
}

function refined(schema: object, fits: (value: string) => boolean, rule: string) {
  return Type.Refine(
    Type.Unsafe<string>({ type: 'string', ...schema }),
    (value) => typeof value !== 'string' || (isStorable(value) && fits(value)),
    () => `must be ${rule}, without U+0000 or lone surrogates`,
  )
}

function lengthRule(min: number, max: number): string {
  return Number.isFinite(max) ? `${min} to ${max} characters` : `at least ${min} characters`
}

function within(value: string, range: { min: number; max: number }): boolean {
  if (value.length < range.min) return false
  if (value.length <= range.max) return codePoints(value) >= range.min
  return value.length <= range.max * 2 && codePoints(value) <= range.max
}

/** A key of a text that ignores case and Unicode form: texts with equal keys differ in nothing else. */
export function caseFolded(text: string): string {
  return text.normalize('NFC').toUpperCase().toLowerCase()
}

/** The first `length` code points of a text, without a part of a grapheme, such as half a flag, at the end. */
export function cutText(value: string, length: number): string {
  if (value.length <= length) return value
  // A code point has at most two UTF-16 units, so the time does not grow with the text.
  const end = Array.from(value.slice(0, 2 * length))
    .slice(0, length)
    .join('').length
  return value.slice(0, graphemeAround(value, end)?.start || end)
}

/** The last `length` code points of a text, without a part of a grapheme at the start. */
export function cutTextBefore(value: string, length: number): string {
  if (value.length <= length) return value
  const rest = Array.from(value.slice(-2 * length - 1)).slice(-length)
  const start = value.length - rest.join('').length
  return value.slice(graphemeAround(value, start)?.end ?? start)
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })
// The most UTF-16 units that are read on each side. A longer row of flags or marks may be cut within one.
const graphemeReach = 400

// The grapheme that has UTF-16 units on both sides of an offset; null when there is none.
function graphemeAround(text: string, offset: number): { start: number; end: number } | null {
  const from = Math.max(0, offset - graphemeReach)
  const found = graphemes.segment(text.slice(from, offset + graphemeReach)).containing(offset - from)
  if (found === undefined || found.index === offset - from) return null
  return { start: from + found.index, end: from + found.index + found.segment.length }
}
