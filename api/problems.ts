import Type, { type TSchema } from 'typebox'
import { Compile, type Validator } from 'typebox/compile'

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
  const validator = validatorOf(schema)
  if (validator.Check(value)) return
  let isInside = false
  for (const problem of problemsInside(place)) {
    isInside = true
    yield problem
  }
  if (isInside) return
  if (Type.IsRefine(schema) && hasInside(place)) yield* unrefined(schema, place)
  else yield* validator.Errors(value).map((error) => ({ path: path + error.instancePath, message: error.message }))
}

function* problemsInside({ schema, value, path }: Place): Generator<Problem> {
  if (Type.IsUnion(schema)) {
    for (const variant of schema.anyOf) yield* problemsOf({ schema: variant, value, path })
    yield { path, message: 'must match a schema in anyOf' }
  } else if (Type.IsObject(schema) && isObject(value)) yield* problemsOfMembers(schema, { members: value, path })
  else if (Type.IsArray(schema) && Array.isArray(value)) yield* problemsOfElements(schema, { elements: value, path })
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
  const { minItems = 0, maxItems = Number.POSITIVE_INFINITY } = schema
  if (elements.length < minItems) yield { path, message: `must not have fewer than ${minItems} items` }
  else if (elements.length > maxItems) yield { path, message: `must not have more than ${maxItems} items` }
  else {
    const { items } = schema
    const validator = validatorOf(items)
    for (const [index, value] of elements.entries()) {
      if (!validator.Check(value)) yield* problemsOf({ schema: items, value, path: `${path}/${index}` })
    }
  }
}

function* unrefined(schema: Type.TRefine, { value, path }: Place): Generator<Problem> {
  for (const { check, error } of schema['~refine']) if (!check(value)) yield { path, message: String(error(value)) }
}

function hasInside({ schema, value }: Place): boolean {
  return (Type.IsObject(schema) && isObject(value)) || (Type.IsArray(schema) && Array.isArray(value))
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

// Compiled when a value is refused for the first time: most members of most routes never are.
function validatorOf(schema: TSchema): Validator {
  let validator = validators.get(schema)
  if (validator === undefined) {
    validator = Compile(schema)
    validators.set(schema, validator)
  }
  return validator
}

const validators = new WeakMap<TSchema, Validator>()
