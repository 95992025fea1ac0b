import type { JsonSchema } from '../openapi/schemas.ts'
import { table } from './table.ts'

/** Every named shape with its members, in alphabetical order. */
export function shapesOf(components: Record<string, JsonSchema>): string {
  return Object.entries(components)
    .map(([name, schema]) => {
      const about = typeof schema['description'] === 'string' ? `${schema['description']}.` : ''
      return [`### ${name}`, about, membersOf(schema) ?? typeOf(schema)].filter(Boolean).join('\n\n')
    })
    .join('\n\n')
}

/** The members of an object as a table; null for anything else. */
export function membersOf(schema: JsonSchema): string | null {
  const { properties, required } = schema as { properties?: Record<string, JsonSchema>; required?: string[] }
  if (properties === undefined || Object.keys(properties).length === 0) return null
  const rows = Object.entries(properties).map(([name, member]) => [
    `\`${name}\``,
    typeOf(member),
    required?.includes(name) ? 'always' : 'may be absent',
    meaningOf(member),
  ])
  return table({ head: ['Member', 'Type', 'Present', 'Meaning'], rows })
}

/** The type of a value in one line, with a link where it has a name. */
export function typeOf(schema: JsonSchema): string {
  const { $ref, anyOf, items, type, enum: choices, const: constant } = schema as Keywords
  if ($ref !== undefined) return linkTo($ref)
  if (anyOf !== undefined) return anyOf.map(typeOf).join(' or ')
  if (choices !== undefined) return choices.map((choice) => `\`${choice}\``).join(', ')
  if (constant !== undefined) return `\`${JSON.stringify(constant)}\``
  if (items !== undefined) return `array of ${typeOf(items)}`
  if (Array.isArray(type)) return type.join(' or ')
  return type ?? 'any value'
}

/** What a value means and which limits it has, in one line. */
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

// Names of schemas are one word, so the anchor of their heading is the word in lower case.
function linkTo(reference: string): string {
  const name = reference.split('/').at(-1) ?? reference
  return `[${name}](#${name.toLowerCase()})`
}
