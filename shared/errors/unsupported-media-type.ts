import { Refusal } from './errors.ts'

/**
 * The 415 that says which media types are accepted, and which one came: as the type of what was `sent` or as `wanted`
 * by the Accept header. Of what came it repeats at most 100 characters.
 */
export function unsupportedMediaType(input: {
  sent?: string | null | undefined
  wanted?: string | undefined
  accepted: readonly string[]
}): Refusal {
  const { sent, wanted, accepted } = input
  const message = `${problemOf({ sent, wanted })}; accepted: ${accepted.join(', ')}.`
  return new Refusal('unsupported_media_type', { message, details: { accepted: [...accepted] } })
}

function problemOf({ sent, wanted }: { sent?: string | null | undefined; wanted?: string | undefined }): string {
  if (wanted !== undefined) return `The answer has none of the media types that Accept names (${wanted.slice(0, 100)})`
  if (!sent) return 'The body comes without a media type (Content-Type)'
  return `The media type ${sent.slice(0, 100)} is not supported here`
}
