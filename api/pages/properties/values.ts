import { createHash } from 'node:crypto'
import { type Properties, propertyLimits, propertyNamePattern } from '../../../shared/documents/metadata.ts'

/** The kinds of values that a property has, in words. */
export const kinds = { text: 'Text', number: 'Number', boolean: 'Yes or no', list: 'List of texts' } as const

/** The kind of the value of a property. */
export type Kind = keyof typeof kinds

type Value = Properties[string]

/** The kind of a value. */
export function kindOf(value: Value): Kind {
  if (Array.isArray(value)) return 'list'
  return typeof value === 'string' ? 'text' : (typeof value as 'number' | 'boolean')
}

/** A value as the field of a form has it: a list has a line for each text, and a truth is `yes` or `no`. */
export function writtenValue(value: Value): string {
  if (Array.isArray(value)) return value.join('\n')
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return String(value)
}

/** Whether the field of a form can hold the value. Lines of a form end alike, and a list has no empty line. */
export function isWritable(value: Value): boolean {
  if (Array.isArray(value)) return value.every((text) => text.trim() !== '' && !/[\r\n]/.test(text))
  return typeof value !== 'string' || !value.includes('\r')
}

/** Reads the field of a form. A field that is no value of the kind gives the reason in words. */
export function readValue(kind: string, field: string): { value: Value } | { problem: string } {
  const text = field.replaceAll('\r\n', '\n')
  if (kind === 'number') return readNumber(text.trim())
  if (kind === 'boolean') return readTruth(text.trim().toLowerCase())
  if (kind === 'list') return readList(text)
  if (kind !== 'text') return { problem: 'Choose what kind of value it is.' }
  return fits(text) ? { value: text } : { problem: `A text has at most ${propertyLimits.characters} characters.` }
}

/** The name of a property, or the reason in words why it cannot be a name. */
export function readName(field: string): { name: string } | { problem: string } {
  const name = field.trim()
  if (new RegExp(propertyNamePattern).test(name)) return { name }
  return {
    problem: 'A name begins with a letter from A to Z and has only letters, digits, “_” and “-”: at most 64 in all.',
  }
}

/** A short text that changes with what a form has been filled in from. */
export function stateOf(value: Value | readonly string[] | undefined): string {
  return createHash('sha256')
    .update(JSON.stringify(value ?? null))
    .digest('base64url')
    .slice(0, 16)
}

function readNumber(text: string): { value: number } | { problem: string } {
  const isNumber = /^-?\d{1,300}(\.\d{1,300})?(e[+-]?\d{1,3})?$/i.test(text) && Number.isFinite(Number(text))
  if (!isNumber) return { problem: 'A number is written like 12 or -1.5.' }
  if (digitsOf(text) !== digitsOf(String(Number(text)))) {
    return { problem: 'A number has at most about 15 digits. Longer numbers can be kept as a text.' }
  }
  return { value: Number(text) }
}

// The digits of a number without its sign, point, exponent and outer zeros.
function digitsOf(number: string): string {
  return number
    .replace(/e.*$/i, '')
    .replace(/[-.]/g, '')
    .replace(/^0+|0+$/g, '')
}

function readTruth(text: string): { value: boolean } | { problem: string } {
  if (text === 'yes' || text === 'true') return { value: true }
  if (text === 'no' || text === 'false') return { value: false }
  return { problem: 'The value is “yes” or “no”.' }
}

function readList(text: string): { value: string[] } | { problem: string } {
  const value = text.split('\n').filter((line) => line.trim() !== '')
  const { items, characters } = propertyLimits
  const isRight = value.length <= items && value.every(fits)
  return isRight
    ? { value }
    : { problem: `A list has at most ${items} lines, each of at most ${characters} characters.` }
}

function fits(text: string): boolean {
  return text.length <= 2 * propertyLimits.characters && Array.from(text).length <= propertyLimits.characters
}
