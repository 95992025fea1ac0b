import Type from 'typebox'

/**
 * The id of a knowledge base or folder as the API returns it: always an integer (decisions 2.0). The upper bound is
 * that of the string form; far beyond it, PostgreSQL could not even compare the number.
 */
export const IntegerId = Type.Integer({ minimum: 1, maximum: 1e16 })

/** The same as a member of a request body, where a decimal string is accepted too; decodes to the number. */
export const IntegerIdInput = Type.Codec(
  Type.Union([IntegerId, Type.String({ pattern: '^[1-9][0-9]{0,15}$' })], {
    description: 'integer or decimal string',
  }),
)
  .Decode((value) => Number(value))
  .Encode((value) => value)

/** A point in time. */
export const Time = Type.Integer({ description: 'Unix milliseconds' })

/** The id of the user who did it; null when nobody is known. */
export const UserId = Type.Union([Type.String(), Type.Null()], { description: 'user id' })

/** A version, `sha256:<64 hex>`, without quotes. */
export const Version = Type.String({ pattern: '^sha256:[0-9a-f]{64}$', description: 'version of the body' })

/** `null` or the given schema. */
export function Nullable<T extends Type.TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()])
}
