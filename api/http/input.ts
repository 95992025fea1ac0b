import Type, { type TObject, type TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { HasCodec } from 'typebox/value'
import { type ErrorCode, Refusal } from '../../shared/errors/errors.ts'
import { isStorable } from '../../shared/schema/strings.ts'
import { demandOf, firstProblems, validatorOf } from './problems.ts'

/** Validates a JSON body and decodes it; the first twenty failing members are listed with their JSON pointers. */
export function bodyReader(schema: TSchema): (body: unknown) => unknown {
  const validator = Compile(schema)
  return (body) => {
    if (!validator.Check(body)) throw invalid(schema, { value: body, pathOf: (path) => path || '/' })
    return decode(schema, body)
  }
}

/**
 * Validates the query string. Unknown parameters are ignored, repeated ones and wrong forms are refused; integers are
 * range-checked, never clamped (decisions 2.0).
 */
export function queryReader(schema: TObject): (query: URLSearchParams) => unknown {
  const validator = Compile(schema)
  const properties = Object.entries(schema.properties)
  // Of all values only these must be decoded: Decode of the whole would clone, convert and check it again.
  const codecs = new Map(
    properties.filter(([, property]) => HasCodec(property)).map(([name, property]) => [name, Compile(property)]),
  )
  return (query) => {
    const values: Record<string, unknown> = {}
    for (const [name, property] of properties) {
      const given = query.getAll(name)
      if (given.length > 1) throw invalidQuery(name, 'must not be repeated')
      if (given[0] !== undefined) values[name] = coerce({ name, text: given[0], schema: property })
    }
    if (!validator.Check(values)) throw invalid(schema, { value: values, pathOf: (path) => `?${path.slice(1)}` })
    for (const [name, codec] of codecs) if (name in values) values[name] = codec.Decode(values[name])
    return values
  }
}

/** Validates path parameters: a malformed id is one that does not exist, so it answers with 404 (decisions 2.0). */
export function paramsReader(schema: TObject): (params: Record<string, string>) => unknown {
  const validator = Compile(schema)
  const entries: [string, TSchema & ParameterMarks][] = Object.entries(schema.properties)
  return (params) => {
    const values: Record<string, unknown> = {}
    for (const [name, property] of entries) {
      const text = params[name] ?? ''
      if (property.type !== 'integer') values[name] = text
      else if (/^[1-9][0-9]{0,15}$/.test(text) && Number.isSafeInteger(Number(text))) values[name] = Number(text)
    }
    if (validator.Check(values)) return validator.Decode(values)
    const path = firstProblems(schema, values, 1)[0]?.path.slice(1)
    const [name, property] = entries.find(([key]) => key === path) ?? entries[0] ?? []
    throw malformedParameter(name ?? '', { property, value: params[name ?? ''] ?? '' })
  }
}

/** How a path parameter says what a malformed value means. */
export type ParameterMarks = { type?: string; 'x-error'?: ErrorCode; 'x-published'?: TSchema }

const reported = 20

function invalid(schema: TSchema, { value, pathOf }: { value: unknown; pathOf: (path: string) => string }): Refusal {
  const fields = firstProblems(schema, value, reported).map(({ path, message }) => ({ path: pathOf(path), message }))
  return new Refusal('invalid_request', { details: { fields } })
}

function malformedParameter(
  name: string,
  { property, value }: { property: (TSchema & ParameterMarks) | undefined; value: string },
): Refusal {
  const code = property?.['x-error'] ?? 'route_not_found'
  if (property === undefined || code === 'route_not_found') return new Refusal('route_not_found')
  if (code !== 'invalid_request') return new Refusal(code, { details: { id: value } })
  const message = demandOf(property['x-published'] ?? property)
  return new Refusal(code, { details: { fields: [{ path: `{${name}}`, message }] } })
}

function invalidQuery(name: string, message: string): Refusal {
  return new Refusal('invalid_request', { details: { fields: [{ path: `?${name}`, message }] } })
}

function coerce(input: { name: string; text: string; schema: TSchema & { type?: string } }): unknown {
  const { name, text, schema } = input
  if (schema.type === 'boolean') {
    if (text === 'true' || text === '1') return true
    if (text === 'false' || text === '0') return false
    throw invalidQuery(name, 'must be true, false, 1 or 0')
  }
  if (schema.type === 'integer') {
    if (!/^-?[0-9]+$/.test(text) || !Number.isSafeInteger(Number(text))) throw invalidQuery(name, demandOf(schema))
    return Number(text)
  }
  if (!isStorable(text)) throw invalidQuery(name, 'must be without U+0000 or lone surrogates')
  return text
}

/**
 * What handlers get for a value that satisfies the schema: codecs are applied, and members of objects that the schema
 * does not know are left out. The value itself is not changed.
 *
 * TypeBox's own Decode checks and copies the value again for each of its steps, which takes longer than all the rest
 * that is done with a large body.
 */
export function decode(schema: TSchema, value: unknown): unknown {
  const inner = decodeInside(schema, value)
  return Type.IsCodec(schema) ? schema['~codec'].decode(inner) : inner
}

function decodeInside(schema: TSchema, value: unknown): unknown {
  if (Type.IsUnion(schema)) {
    const variant = schema.anyOf.find((variant) => validatorOf(variant).Check(value))
    return variant === undefined ? value : decode(variant, value)
  }
  if (Type.IsArray(schema) && Array.isArray(value)) return value.map((element) => decode(schema.items, element))
  if (!Type.IsObject(schema) || typeof value !== 'object' || value === null) return value
  const members = Object.entries(schema.properties).filter(([name]) => Object.hasOwn(value, name))
  const named = value as Record<string, unknown>
  return Object.fromEntries(members.map(([name, member]) => [name, decode(member, named[name])]))
}
