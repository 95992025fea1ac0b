import Type, { type TSchema } from 'typebox'
import { validatorOf } from './validator.ts'

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
