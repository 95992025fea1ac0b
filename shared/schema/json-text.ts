import Type, { type TSchema } from 'typebox'

/**
 * A member of a request that handlers get as JSON text. Text costs less than objects to pass between threads, and a
 * handler without need of the objects never makes them.
 */
export function asText<S extends TSchema>(schema: S) {
  return Type.Decode(schema, (value): string => JSON.stringify(value))
}
