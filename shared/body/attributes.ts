import { codePoints } from '../schema/code-points.ts'
import type { Json } from './document.ts'

/** The highest number of code points of an address: the `href` of a link, the `src` of an image. */
const maximumAddress = 8192

/** The highest number of code points of a title or an alternative text. */
const maximumCaption = 2000

/**
 * A set of rules that the values of one attribute follow. `default` is the value of an absent attribute; a `required`
 * attribute has no default. With `always`, the stored form of a node contains the attribute even when the value is the
 * default. `check` returns the expected value in words, or null when the value fits. `expected` has the same words, and
 * `schema` is the same rule as JSON Schema.
 */
export type Attribute = {
  default?: Json
  required?: boolean
  always?: boolean
  expected: string
  schema: { [keyword: string]: Json }
  check: (value: unknown) => string | null
}

/** An optional text, null by default. */
export const optionalText: Attribute = {
  default: null,
  ...takes('a string', { type: 'string' }, (v) => typeof v === 'string'),
}

/** A required address of a bounded length. */
export const requiredAddress: Attribute = { required: true, ...takesText(maximumAddress) }

/** An optional address that the stored form of a node contains even when the address is null. */
export const writtenAddress: Attribute = { default: null, always: true, ...takesText(maximumAddress) }

/** An optional title or alternative text, null by default. */
export const optionalCaption: Attribute = { default: null, ...takesText(maximumCaption) }

/** An optional title or alternative text that the stored form of a node contains even when the text is null. */
export const writtenCaption: Attribute = { ...optionalCaption, always: true }

/** An optional text that the stored form of a node contains even when the text is null. */
export const writtenText: Attribute = { ...optionalText, always: true }

/** A required text. */
export const requiredText: Attribute = {
  required: true,
  ...takes('a string', { type: 'string' }, (v) => typeof v === 'string'),
}

/** An optional size in pixels. */
export const optionalSize: Attribute = {
  default: null,
  ...takes(
    'a number >= 0',
    { type: 'number', minimum: 0 },
    (v) => typeof v === 'number' && Number.isFinite(v) && v >= 0,
  ),
}

/** A boolean, false by default. */
export const flag: Attribute = {
  default: false,
  ...takes('true or false', { type: 'boolean' }, (v) => typeof v === 'boolean'),
}

/** A boolean, false by default, that the stored form of a node always contains. */
export const writtenFlag: Attribute = { ...flag, always: true }

/** The alignment of the text of a block. With null, the direction of the text's language decides. */
export const alignmentAttribute: Attribute = oneOf(['left', 'center', 'right', 'justify'], null)

/** The widths in pixels of the columns that a cell covers. */
export const columnWidths: Attribute = {
  default: null,
  ...takes(
    'an array of integers',
    { type: 'array', items: { type: 'integer', minimum: 0 } },
    (v) => Array.isArray(v) && v.every((w) => Number.isSafeInteger(w) && w >= 0),
  ),
}

/** An attribute whose value is an integer within a range that includes both ends. */
export function integerAttribute(range: { from: number; to?: number; default: number; always?: boolean }): Attribute {
  const to = range.to ?? Number.MAX_SAFE_INTEGER
  const fits = (v: unknown) => typeof v === 'number' && Number.isSafeInteger(v) && v >= range.from && v <= to
  const expected = range.to === undefined ? `an integer >= ${range.from}` : `an integer ${range.from}..${range.to}`
  const schema = { type: 'integer', minimum: range.from, ...(range.to !== undefined && { maximum: range.to }) }
  return { default: range.default, always: range.always ?? false, ...takes(expected, schema, fits) }
}

/** An attribute whose value is a word of the list `words`; `fallback` is the default. */
export function oneOf(words: string[], fallback: string | null): Attribute {
  const fits = (v: unknown) => typeof v === 'string' && words.includes(v)
  return { default: fallback, ...takes(`one of ${words.join(', ')}`, { enum: words }, fits) }
}

function takesText(maximum: number): Pick<Attribute, 'expected' | 'schema' | 'check'> {
  const fits = (v: unknown) => typeof v === 'string' && v.length <= 2 * maximum && codePoints(v) <= maximum
  return takes(`a string of at most ${maximum} characters`, { type: 'string', maxLength: maximum }, fits)
}

function takes(
  expected: string,
  schema: Attribute['schema'],
  fits: (value: unknown) => boolean,
): Pick<Attribute, 'expected' | 'schema' | 'check'> {
  return { expected, schema, check: (value) => (fits(value) ? null : expected) }
}
