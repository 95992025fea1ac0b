import Type, { type TSchema } from 'typebox'
import { Compile, type Validator } from 'typebox/compile'
import { cutText } from '../../shared/schema/strings.ts'

const validators = new WeakMap<TSchema, Validator>()

/** A mistake in a value: the JSON pointer of the member, and a message that says what is allowed there. */
export type Problem = { path: string; message: string }

/**
 * The first problems of a value, at most `limit`; empty when the value satisfies the schema.
 *
 * TypeBox itself visits every element of every array, however many problems it has found already: five megabytes of
 * wrong elements take seconds. Here compiled checks skip valid parts, and the search ends at the limit. So the search
 * costs at most one check of the value for each level of the schema.
 */
export function firstProblems(schema: TSchema, value: unknown, limit: number): Problem[] {
  return problemsOf({ schema, value, path: '' }).take(limit).toArray()
}

type Checked = { schema: TSchema; value: unknown; path: string }

function* problemsOf(checked: Checked): Generator<Problem> {
  const { schema, value, path } = checked
  if (validatorOf(schema).Check(value)) return
  let isInside = false
  for (const problem of problemsInside(checked)) {
    isInside = true
    yield problem
  }
  if (!isInside) yield* problemsOfItself(schema, { value, path })
}

function* problemsInside({ schema, value, path }: Checked): Generator<Problem> {
  if (Type.IsUnion(schema)) {
    const variant = variantMeant(schema, value)
    if (variant !== undefined) yield* problemsOf({ schema: variant, value, path })
    else yield* problemsOfDiscriminator(schema, { value, path })
  } else if (Type.IsRecord(schema) && isObject(value)) yield* problemsOfEntries(schema, { entries: value, path })
  else if (Type.IsObject(schema) && isObject(value)) yield* problemsOfMembers(schema, { members: value, path })
  else if (Type.IsArray(schema) && Array.isArray(value)) yield* problemsOfElements(schema, { elements: value, path })
}

// Finds the alternative of a union that the value is meant to be. The property that `x-discriminator` of the union
// names decides. Without `x-discriminator`, the alternative must be the only one that takes values of this kind:
// objects, or arrays.
function variantMeant(schema: Type.TUnion, value: unknown): TSchema | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const property = discriminatorOf(schema)
  if (property === undefined) {
    const variants = schema.anyOf.filter((variant) => takesKind(variant, value))
    return variants.length === 1 ? variants[0] : undefined
  }
  return schema.anyOf.find((variant) => constantOf(variant, property) === (value as Record<string, unknown>)[property])
}

function* problemsOfDiscriminator(
  schema: Type.TUnion,
  { value, path }: { value: unknown; path: string },
): Generator<Problem> {
  const property = discriminatorOf(schema)
  if (property === undefined || !isObject(value)) return
  const choices = oneOf(schema.anyOf.map((variant) => constantOf(variant, property)))
  const message = Object.hasOwn(value, property) ? `must be ${choices}` : `is required, ${choices}`
  yield { path: `${path}/${property}`, message }
}

function discriminatorOf(schema: TSchema): string | undefined {
  return (schema as { 'x-discriminator'?: string })['x-discriminator']
}

function constantOf(variant: TSchema, property: string): unknown {
  return (variant as { properties?: Record<string, { const?: unknown }> }).properties?.[property]?.const
}

function* problemsOfMembers(
  schema: Type.TObject,
  { members, path }: { members: Record<string, unknown>; path: string },
): Generator<Problem> {
  const missing = (schema.required ?? []).filter((name) => !Object.hasOwn(members, name))
  yield* missing.map((name) => ({ path: `${path}/${name}`, message: 'is required' }))
  for (const [name, member] of Object.entries(schema.properties)) {
    if (Object.hasOwn(members, name))
      yield* problemsOf({ schema: member, value: members[name], path: `${path}/${name}` })
  }
}

// The names of a record come from the caller, so a message repeats only the beginning of a name.
function* problemsOfEntries(
  schema: Type.TRecord & { maxProperties?: number },
  { entries, path }: { entries: Record<string, unknown>; path: string },
): Generator<Problem> {
  const { maxProperties = Number.POSITIVE_INFINITY } = schema
  const count = Object.keys(entries).length
  if (count > maxProperties) {
    yield { path, message: `must have at most ${maxProperties} members, not ${count}` }
    return
  }
  const [[pattern, member] = ['', Type.Unknown()]] = Object.entries(schema.patternProperties)
  const form = new RegExp(pattern)
  for (const [name, value] of Object.entries(entries)) {
    const inside = `${path}/${cutText(name, 64).replaceAll('~', '~0').replaceAll('/', '~1')}`
    if (!form.test(name)) yield { path: inside, message: `must have a name that matches ${pattern}` }
    else yield* problemsOf({ schema: member, value, path: inside })
  }
}

// For an array of a wrong length, the length is the only problem that is reported.
function* problemsOfElements(
  schema: Type.TArray & { minItems?: number; maxItems?: number },
  { elements, path }: { elements: readonly unknown[]; path: string },
): Generator<Problem> {
  const { items, minItems = 0, maxItems = Number.POSITIVE_INFINITY } = schema
  if (elements.length < minItems || elements.length > maxItems) {
    yield { path, message: `must have ${countOf(schema)}, not ${elements.length}` }
    return
  }
  const validator = validatorOf(items)
  for (const [index, value] of elements.entries()) {
    if (!validator.Check(value)) yield* problemsOf({ schema: items, value, path: `${path}/${index}` })
  }
}

// Rules that were added to a schema by `Type.Refine` have the best messages, but they apply only to values of the right
// kind. For other values the message names the kind.
function* problemsOfItself(schema: TSchema, { value, path }: { value: unknown; path: string }): Generator<Problem> {
  const rules = Type.IsRefine(schema) && takesKind(schema, value) ? schema['~refine'] : []
  const broken = rules.filter(({ check }) => !check(value)).map(({ error }) => String(error(value)))
  if (broken.length === 0) yield { path, message: demandOfKind(schema, value) }
  else yield* broken.map((message) => ({ path, message }))
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The keywords of JSON Schema from which the messages are made. */
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

/**
 * The message that says what a value must be: `must be an integer from 1 to 100`, `must be one of: topk, exhaustive`.
 */
export function demandOf(schema: TSchema): string {
  const { enum: choices } = schema as Keywords
  return `must be ${choices === undefined ? nounOf(schema) : oneOf(choices)}`
}

/**
 * Returns a message that says what a value must be. For a value of a wrong kind, the message also names the kind of the
 * value. The value itself is never repeated.
 */
function demandOfKind(schema: TSchema, value: unknown): string {
  return takesKind(schema, value) ? demandOf(schema) : `${demandOf(schema)}, not ${kindOf(value)}`
}

/** The allowed values in words: `one of: topk, exhaustive`. */
function oneOf(choices: readonly unknown[]): string {
  return choices.length === 1 ? JSON.stringify(choices[0]) : `one of: ${choices.join(', ')}`
}

/** The allowed number of items of an array in words: `1 to 100 items`. */
function countOf(schema: TSchema): string {
  const { minItems, maxItems } = schema as Keywords
  return range({ from: minItems, to: maxItems, unit: ' items' })
}

/** Whether the schema takes values of this kind, such as strings, arrays, objects or integers. */
function takesKind(schema: TSchema, value: unknown): boolean {
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

/** The kind of a JSON value with its article, such as `an array`. */
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

/**
 * The compiled validator of a schema, compiled at its first use. Most member schemas are never compiled by themselves:
 * the validator of the whole value includes them. They are needed alone only to locate a problem, or to choose a
 * variant of a union.
 */
export function validatorOf(schema: TSchema): Validator {
  let validator = validators.get(schema)
  if (validator === undefined) {
    validator = Compile(schema)
    validators.set(schema, validator)
  }
  return validator
}
