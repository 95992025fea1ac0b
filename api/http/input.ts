import Type, { type TObject, type TSchema } from 'typebox'
import { HasCodec } from 'typebox/value'
import { type ErrorCode, Refusal } from '../../shared/errors/errors.ts'
import { cutText, isStorable } from '../../shared/schema/strings.ts'
import { demandOf, firstProblems, validatorOf } from './problems.ts'

/**
 * Makes the reader of a JSON body, which validates and decodes the body. A refusal (400 `invalid_request`) lists the
 * first twenty failing members with their JSON pointers.
 */
export function bodyReader(schema: TSchema): (body: unknown) => unknown {
  return (body) => {
    if (!validatorOf(schema).Check(body)) throw invalid(schema, { value: body, pathOf: (path) => path || '/' })
    return decode(schema, body)
  }
}

/**
 * Makes the reader of a query string. Unknown parameters are ignored. Repeated and malformed parameters are refused
 * with 400 `invalid_request`. An integer outside its range is refused, never adjusted. A parameter whose schema is an
 * array may be repeated. A parameter whose schema is a record is written `name[key]=value`.
 */
export function queryReader(schema: TObject): (query: URLSearchParams) => unknown {
  const properties = Object.entries(schema.properties)
  // The parameters whose schema has a codec, a conversion of TypeBox; other values stay as they are. Decoding all
  // values at once would clone, convert and check them again.
  const converted = properties.filter(([, property]) => HasCodec(property))
  return (query) => {
    const values: Record<string, unknown> = {}
    for (const [name, property] of properties) {
      const given = valuesOf(query, name, property)
      if (given !== undefined) values[name] = given
    }
    if (!validatorOf(schema).Check(values)) throw invalid(schema, { value: values, pathOf: parameterPath })
    for (const [name, property] of converted) {
      if (name in values) values[name] = validatorOf(property).Decode(values[name])
    }
    return values
  }
}

function valuesOf(query: URLSearchParams, name: string, schema: TSchema): unknown {
  const read = (written: string, given: readonly string[], of: TSchema) => {
    if (given.length > 1) throw invalidQuery(cutText(written, 100), 'must not be repeated')
    return coerce({ name: written, text: given[0] as string, schema: of })
  }
  if (Type.IsArray(schema)) {
    const given = query.getAll(name)
    return given.length === 0 ? undefined : given.map((text) => read(name, [text], schema.items))
  }
  if (!Type.IsRecord(schema)) return query.has(name) ? read(name, query.getAll(name), schema) : undefined
  const keys = [...query.keys()].filter((key) => key.startsWith(`${name}[`) && key.endsWith(']'))
  const text = Type.String()
  if (keys.length === 0) return undefined
  return Object.fromEntries(keys.map((key) => [key.slice(name.length + 1, -1), read(key, query.getAll(key), text)]))
}

// `/limit` is the parameter `?limit`, `/tag/1` an element of `?tag`, and `/property/status` is `?property[status]`.
function parameterPath(path: string): string {
  const [, name = '', key] = path.split('/')
  return key === undefined ? `?${name}` : `?${name}[${key}]`
}

/**
 * Makes the reader of path parameters. A malformed id cannot name anything that exists. So a malformed id is refused
 * with the error code that `x-error` of its schema names, mostly a 404.
 */
export function paramsReader(schema: TObject): (params: Record<string, string>) => unknown {
  const entries: [string, TSchema & ParameterMarks][] = Object.entries(schema.properties)
  return (params) => {
    const values: Record<string, unknown> = {}
    for (const [name, property] of entries) {
      const text = params[name] ?? ''
      if (property.type !== 'integer') values[name] = text
      else if (/^[1-9][0-9]{0,15}$/.test(text) && Number.isSafeInteger(Number(text))) values[name] = Number(text)
    }
    const validator = validatorOf(schema)
    if (validator.Check(values)) return validator.Decode(values)
    const path = firstProblems(schema, values, 1)[0]?.path.slice(1)
    const [name, property] = entries.find(([key]) => key === path) ?? entries[0] ?? []
    throw malformedParameter(name ?? '', { property, value: params[name ?? ''] ?? '' })
  }
}

/**
 * A set of marks in the schema of a path parameter. `x-error` is the code that refuses a malformed value, and
 * `x-published` is the schema that people see in its place.
 */
export type ParameterMarks = { type?: string; 'x-error'?: ErrorCode; 'x-published'?: TSchema }

// The most failing members that a refusal lists.
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
 * Decodes a value that satisfies the schema: codecs are applied, and members that the schema does not know are left
 * out. The given value is not changed.
 *
 * TypeBox's own Decode checks and copies the value again for each of its steps. With a large body, this would take
 * longer than all other work on the body.
 */
function decode(schema: TSchema, value: unknown): unknown {
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
