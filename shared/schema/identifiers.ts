import Type from 'typebox'

/**
 * The id of a knowledge base or folder as the API returns it: always an integer. The maximum is the largest id that the
 * string form can hold, and PostgreSQL can compare all numbers up to this maximum. See
 * api/guide/requests.md#identifiers.
 */
export const IntegerId = Type.Integer({ minimum: 1, maximum: 1e16 })

/**
 * An integer id of a request. An id that a number cannot hold exactly is a string of digits; no object has such an id.
 */
export type NamedId = number | string

/** The id of the object of a request, as an integer or a decimal string. A 404 repeats the id as it was sent. */
export const IntegerIdInput = Type.Codec(integerOrDigits())
  .Decode((value): NamedId => (Number.isSafeInteger(Number(value)) ? Number(value) : value))
  .Encode((value) => value)

/**
 * An id that filters a list, as an integer or a decimal string, decoded to a number. For an unknown id the list is
 * empty.
 */
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

/** The id of the acting user; null when the user is unknown. */
export const UserId = Type.Union([Type.String(), Type.Null()], { description: 'user id' })

const hashPattern = '^sha256:[0-9a-f]{64}$'

/** The version of a body: `sha256:` and 64 hexadecimal digits, without quotes. */
export const Version = Type.String({ pattern: hashPattern, description: 'version of the body' })

/** The hash of a block: `sha256:` and 64 hexadecimal digits. */
export const BlockHash = Type.String({
  pattern: hashPattern,
  description: 'hash of the block; as If-Match it guards this block alone',
})

/** `null` or the given schema. */
export function Nullable<T extends Type.TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()])
}
