import type { TSchema } from 'typebox'

/** The keywords by which a schema of a request says what it takes. */
type Keywords = {
  type?: string
  enum?: readonly unknown[]
  const?: unknown
  anyOf?: readonly TSchema[]
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  pattern?: string
  description?: string
}

/** What a value has to be, as a sentence: `must be an integer from 1 to 100`, `must be one of: topk, exhaustive`. */
export function demandOf(schema: TSchema): string {
  const { enum: choices } = schema as Keywords
  return `must be ${choices === undefined ? nounOf(schema) : oneOf(choices)}`
}

/** As `demandOf` for a value that may be of another kind, which is named but never repeated. */
export function demandOfKind(schema: TSchema, value: unknown): string {
  return takesKind(schema, value) ? demandOf(schema) : `${demandOf(schema)}, not ${kindOf(value)}`
}

/** The values of a choice in words: `one of: topk, exhaustive`. */
export function oneOf(choices: readonly unknown[]): string {
  return choices.length === 1 ? JSON.stringify(choices[0]) : `one of: ${choices.join(', ')}`
}

/** How many items an array may have, in words: `1 to 100 items`. */
export function countOf(schema: TSchema): string {
  const { minItems, maxItems } = schema as Keywords
  return range({ from: minItems, to: maxItems, unit: ' items' })
}

/** Whether the schema takes values of this kind at all: strings, arrays, objects, integers and so on. */
export function takesKind(schema: TSchema, value: unknown): boolean {
  return alternativesOf(schema).some(({ type, enum: choices, const: constant }) => {
    if (constant !== undefined) return typeof constant === typeof value
    if (choices !== undefined) return choices.some((choice) => typeof choice === typeof value)
    if (type === 'integer') return Number.isInteger(value)
    if (type === 'array') return Array.isArray(value)
    if (type === 'null') return value === null
    if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value)
    return type === undefined || typeof value === type
  })
}

/** The kind of a JSON value with its article. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object') return 'an object'
  if (typeof value === 'number') return Number.isInteger(value) ? 'an integer' : 'a number that is no integer'
  return `a ${typeof value}`
}

function nounOf(schema: TSchema): string {
  const nouns = [...new Set(alternativesOf(schema).map(noun))]
  return nouns.length === 1 ? String(nouns[0]) : `${nouns.slice(0, -1).join(', ')} or ${nouns.at(-1)}`
}

function alternativesOf(schema: TSchema): Keywords[] {
  const { anyOf } = schema as Keywords
  return anyOf === undefined ? [schema as Keywords] : anyOf.flatMap(alternativesOf)
}

function noun(keywords: Keywords): string {
  const { type, enum: choices, const: constant, minimum: from, maximum: to } = keywords
  if (constant !== undefined) return JSON.stringify(constant)
  if (choices !== undefined) return oneOf(choices)
  if (type === 'string') return stringNoun(keywords)
  if (type === 'array') return `an array${counted(countOf(keywords as TSchema))}`
  if (type === 'integer' || type === 'number') {
    const bounds = range({ from, to, unit: '' })
    const between = from !== undefined && to !== undefined ? ` from ${bounds}` : counted(bounds)
    return `${type === 'integer' ? 'an integer' : 'a number'}${between}`
  }
  if (type === 'object') return 'an object'
  return type === 'boolean' ? 'true or false' : (type ?? 'another value')
}

function stringNoun({ minLength: from, maxLength: to, pattern, description }: Keywords): string {
  const length = counted(range({ from, to, unit: ' characters' }))
  if (pattern === undefined) return `a string${length}`
  const meaning = description === undefined ? '' : ` (${description})`
  return `a string${length} that matches ${pattern}${meaning}`
}

function counted(bounds: string): string {
  return bounds === '' ? '' : ` of ${bounds}`
}

function range(input: { from: number | undefined; to: number | undefined; unit: string }): string {
  const { from, to, unit } = input
  if (from === undefined && to === undefined) return ''
  if (to === undefined) return `at least ${from}${unit}`
  return from === undefined ? `at most ${to}${unit}` : `${from} to ${to}${unit}`
}
