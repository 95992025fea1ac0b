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

/** The first `length` code points of a text. */
export function cutText(value: string, length: number): string {
  if (value.length <= length) return value
  // A code point has at most two UTF-16 units, so the time does not grow with the text.
  return Array.from(value.slice(0, 2 * length))
    .slice(0, length)
    .join('')
}
