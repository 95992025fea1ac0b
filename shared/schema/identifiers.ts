import Type from 'typebox'

/**
 * The id of a knowledge base or folder as the API returns it: always an integer (decisions 2.0). The upper bound is
 * that of the string form; far beyond it, PostgreSQL could not even compare the number.
 */
export const IntegerId = Type.Integer({ minimum: 1, maximum: 1e16 })

/** An id as a request names it: its digits where a number would not be exact. Nothing has such an id. */
export type NamedId = number | string

/** The id of what a request is about, where a decimal string is accepted too; a 404 tells it as it was sent. */
export const IntegerIdInput = Type.Codec(integerOrDigits())
  .Decode((value): NamedId => (Number.isSafeInteger(Number(value)) ? Number(value) : value))
  .Encode((value) => value)

/** The same where it narrows a list, which is empty when nothing has the id; decodes to the number. */
export function IntegerIdFilter(options: { description?: string } = {}) {
  return Type.Codec(integerOrDigits(options))
    .Decode((value) => Number(value))
    .Encode((value) => value)
}

function integerOrDigits(options: { description?: string } = {}) {
  const digits = Type.String({ pattern: '^[1-9][0-9]{0,15}$' })
  return Type.Union([IntegerId, digits], { description: 'integer or decimal string', ...options })
}

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
