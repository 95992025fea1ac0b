import type { JsonSchema } from '../openapi/schemas.ts'
import { table } from './table.ts'

/** A named schema as Markdown: its description, then its members or its alternatives. */
export function shapeText(schema: JsonSchema): string {
  const about = typeof schema['description'] === 'string' ? `${schema['description']}.` : ''
  return [about, membersOf(schema) ?? alternativesOf(schema) ?? typeOf(schema)].filter(Boolean).join('\n\n')
}

/**
 * The members of an object as a table, including the members of unnamed objects inside. For example, `terms[].term` is
 * the member `term` of each object of the array `terms`. Null for a schema that is no object.
 */
export function membersOf(schema: JsonSchema): string | null {
  const rows = memberRows(schema, '')
  return rows.length === 0 ? null : table({ head: ['Member', 'Type', 'Present', 'Meaning'], rows })
}

function memberRows(schema: JsonSchema, path: string): string[][] {
  const { properties = {}, required = [] } = schema as { properties?: Record<string, JsonSchema>; required?: string[] }
  return Object.entries(properties).flatMap(([name, member]) => {
    const presence = required.includes(name) ? 'always' : 'may be absent'
    const [inner, suffix] = innerObject(member)
    return [
      [`\`${path}${name}\``, typeOf(member), presence, meaningOf(member)],
      ...(inner === null ? [] : memberRows(inner, `${path}${name}${suffix}.`)),
    ]
  })
}

// Finds the unnamed object in a member: the value itself, an item of an array, or the only alternative beside null.
// Returns null where there is no object, and the suffix `[]` for the path of an array.
function innerObject(schema: JsonSchema): [JsonSchema | null, string] {
  const { items, anyOf, properties } = schema as Keywords
  if (properties !== undefined) return [schema, '']
  if (items !== undefined) return [innerObject(items)[0], '[]']
  const [only, ...others] = (anyOf ?? []).filter((alternative) => alternative['type'] !== 'null')
  return only === undefined || others.length > 0 ? [null, ''] : innerObject(only)
}

// The alternatives of a union as a table, named by the property that distinguishes them, or by their titles. Null for a
// schema without named alternatives.
function alternativesOf(schema: JsonSchema): string | null {
  const { oneOf, anyOf, discriminator } = schema as Keywords
  if (oneOf !== undefined && discriminator !== undefined) {
    const rows = Object.entries(discriminator.mapping).map(([word, reference]) => [`\`${word}\``, linkTo(reference)])
    return table({ head: [`\`${discriminator.propertyName}\``, 'Shape'], rows })
  }
  if (anyOf?.every(({ title }) => typeof title === 'string') !== true) return null
  const rows = anyOf.map((alternative) => {
    const { attrs, ...members } = alternative['properties'] as Record<string, JsonSchema>
    const names = Object.keys(attrs?.['properties'] ?? {}).map((name) => `\`${name}\``)
    const others = Object.keys(members).map((name) => `\`${name}\``)
    return [`\`${alternative['title']}\``, others.join(', '), names.join(', ') || '–']
  })
  return table({ head: ['`type`', 'Members', 'Members of `attrs`'], rows })
}

/** The type of a value in one line, with a link where the schema is a named schema. */
export function typeOf(schema: JsonSchema): string {
  const { $ref, anyOf, oneOf, items, type, enum: choices, const: constant } = schema as Keywords
  if ($ref !== undefined) return linkTo($ref)
  const alternatives = anyOf ?? oneOf
  if (alternatives !== undefined) return alternatives.map(typeOf).join(' or ')
  if (choices !== undefined) return choices.map((choice) => `\`${choice}\``).join(', ')
  if (constant !== undefined) return `\`${JSON.stringify(constant)}\``
  if (items !== undefined) return `array of ${typeOf(items)}`
  if (Array.isArray(type)) return type.join(' or ')
  return type ?? 'any value'
}

/** The meaning and the limits of a value, in one line. */
export function meaningOf(schema: JsonSchema): string {
  const {
    description,
    minimum,
    maximum,
    minLength,
    maxLength,
    minItems,
    maxItems,
    pattern,
    default: fallback,
  } = schema as Keywords
  return [
    description,
    range({ from: minimum, to: maximum, unit: '' }),
    range({ from: minLength, to: maxLength, unit: ' characters' }),
    range({ from: minItems, to: maxItems, unit: ' items' }),
    pattern === undefined ? undefined : `form \`${pattern}\``,
    fallback === undefined ? undefined : `default \`${JSON.stringify(fallback)}\``,
  ]
    .filter((part) => part !== undefined)
    .join('; ')
}

type Keywords = {
  $ref?: string
  anyOf?: JsonSchema[]
  oneOf?: JsonSchema[]
  discriminator?: { propertyName: string; mapping: Record<string, string> }
  properties?: Record<string, JsonSchema>
  items?: JsonSchema
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  description?: string
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  pattern?: string
  default?: unknown
}

function range(input: { from: number | undefined; to: number | undefined; unit: string }): string | undefined {
  const { from, to, unit } = input
  if (from === undefined && to === undefined) return undefined
  if (to === undefined) return `at least ${from}${unit}`
  return from === undefined ? `at most ${to}${unit}` : `${from} to ${to}${unit}`
}

// The name of a schema is one word, so the anchor of its heading is this word in lower case.
function linkTo(reference: string): string {
  const name = reference.split('/').at(-1) ?? reference
  return `[${name}](#${name.toLowerCase()})`
}
