import type { TSchema } from 'typebox'

/** Which side of a tool a schema describes: what a model writes needs explanations, what it gets explains itself. */
type Side = 'input' | 'output'

type Json = null | boolean | number | string | Json[] | JsonObject
type JsonObject = { [name: string]: Json }

/**
 * The JSON Schema of a TypeBox schema in few characters, because clients put the list of tools into the context of
 * their model. Names, formats and marks of our own are left out. An input keeps its descriptions, each of them once. An
 * output keeps its types; what is inside of it is not required. What remains allows at least everything that the given
 * schema allows.
 */
export function leanSchema(schema: TSchema, side: Side): object {
  const explained = new Set<string>()
  const leanValue = (value: Json, depth: number): Json => {
    if (!isObject(value)) return value
    const kept = Object.entries(value).filter(([name, member]) => !isDropped(name, member, { side, depth }))
    const members = kept.map(([name, member]): [string, Json] => [name, leanMember(name, member, depth)])
    const lean = simplified(Object.fromEntries(members.filter(([name, member]) => !isRepeated(name, member))))
    return side === 'output' && depth > 0 ? untyped(lean) : lean
  }
  const leanMember = (name: string, member: Json, depth: number): Json => {
    if (name === 'properties' && isObject(member)) {
      return Object.fromEntries(Object.entries(member).map(([key, property]) => [key, leanValue(property, depth + 1)]))
    }
    if (name === 'anyOf' && Array.isArray(member)) return member.map((variant) => leanValue(variant, depth + 1))
    return leanValue(member, depth + 1)
  }
  const isRepeated = (name: string, member: Json) => {
    if (name !== 'description') return false
    const isKnown = explained.has(String(member))
    explained.add(String(member))
    return isKnown
  }
  return leanValue(JSON.parse(JSON.stringify(schema)), 0) as object
}

// Patterns, lengths and ranges cost more characters than they help a model. The routes check them, and say what is
// allowed.
const dropped = new Set([
  ...['$id', 'pattern', 'title', 'examples'],
  ...['minLength', 'maxLength', 'minItems', 'maxItems', 'minimum', 'maximum'],
])
// A longer set of words, such as that of all scopes, is left out of an output.
const mostWords = 3
const explaining = new Set(['description', 'default'])

function isDropped(name: string, value: Json, { side, depth }: { side: Side; depth: number }): boolean {
  if (dropped.has(name) || name.startsWith('x-')) return true
  if (side === 'input') return false
  const isLong = name === 'enum' && Array.isArray(value) && value.length > mostWords
  const isImplied = depth > 0 && (name === 'required' || (name === 'type' && value === 'object'))
  return isLong || isImplied || explaining.has(name)
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

// Writes a schema shorter. A constant and a set of words need no type. A union with anything is anything, and a union
// of types is a list of types.
function simplified(schema: JsonObject): JsonObject {
  const { type, ...constant } = schema
  if (type !== undefined && ('const' in schema || 'enum' in schema)) return constant
  const { anyOf, ...others } = schema
  if (!Array.isArray(anyOf)) return schema
  const variants = anyOf.filter(isObject)
  if (variants.some((variant) => Object.keys(variant).length === 0)) return others
  const types = variants.flatMap((variant) => variant['type'] ?? null)
  const [detailed, ...further] = variants.filter(hasDetails)
  if (further.length > 0 || !types.every((one) => typeof one === 'string')) return { ...others, anyOf: variants }
  return { ...detailed, ...others, type: [...new Set(types)] }
}

// What has properties is an object, and what has items is a list.
function untyped({ type, ...others }: JsonObject): JsonObject {
  return type === undefined || 'properties' in others || 'items' in others ? others : { type, ...others }
}

function hasDetails(schema: JsonObject): boolean {
  return Object.keys(schema).some((name) => name !== 'type')
}
