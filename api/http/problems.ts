import Type, { type TSchema } from 'typebox'
import { countOf, demandOfKind, oneOf, takesKind } from './expectations.ts'
import { validatorOf } from './validator.ts'

/** One thing that is wrong with a value: the JSON pointer of the member, and what is allowed there. */
export type Problem = { path: string; message: string }

/**
 * The first problems of a value, at most `limit`; none when the value satisfies the schema.
 *
 * TypeBox itself visits every element of every array, however many problems it has found by then: five megabytes of
 * wrong elements take it seconds. Here compiled checks pass over what is right, and the search ends at the limit, so
 * that it costs no more than checking the value once for each level of the schema.
 */
export function firstProblems(schema: TSchema, value: unknown, limit: number): Problem[] {
  return problemsOf({ schema, value, path: '' }).take(limit).toArray()
}

type Place = { schema: TSchema; value: unknown; path: string }

function* problemsOf(place: Place): Generator<Problem> {
  const { schema, value, path } = place
  if (validatorOf(schema).Check(value)) return
  let isInside = false
  for (const problem of problemsInside(place)) {
    isInside = true
    yield problem
  }
  if (!isInside) yield* problemsOfItself(schema, { value, path })
}

function* problemsInside({ schema, value, path }: Place): Generator<Problem> {
  if (Type.IsUnion(schema)) {
    const variant = variantMeant(schema, value)
    if (variant !== undefined) yield* problemsOf({ schema: variant, value, path })
    else yield* problemsOfDiscriminator(schema, { value, path })
  } else if (Type.IsObject(schema) && isObject(value)) yield* problemsOfMembers(schema, { members: value, path })
  else if (Type.IsArray(schema) && Array.isArray(value)) yield* problemsOfElements(schema, { elements: value, path })
}

// The alternative of a union that its discriminator names, or the only one that takes an object or array.
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

// An array of a wrong length is refused for its length alone.
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

// The rules that were added to a schema know best what they allow, but they are about values of its kind only.
function* problemsOfItself(schema: TSchema, { value, path }: { value: unknown; path: string }): Generator<Problem> {
  const rules = Type.IsRefine(schema) && takesKind(schema, value) ? schema['~refine'] : []
  const broken = rules.filter(({ check }) => !check(value)).map(({ error }) => String(error(value)))
  if (broken.length === 0) yield { path, message: demandOfKind(schema, value) }
  else yield* broken.map((message) => ({ path, message }))
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
