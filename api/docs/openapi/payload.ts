import Type, { type TObject, type TSchema } from 'typebox'
import type { Route } from '../../http/route.ts'

/**
 * The published schema of a route's body, with its media types; null where it has no body. A form includes its file.
 */
export function payloadOf(spec: Route): { schema: TSchema; mediaTypes: readonly string[] } | null {
  if (spec.body === undefined) return null
  if (spec.multipart === undefined) {
    const mediaTypes = ['application/json', ...(spec.mediaTypes ?? [])]
    return { schema: withDefaultsInWords(spec.body), mediaTypes }
  }
  const file = Type.String({
    contentMediaType: 'application/octet-stream',
    description: 'the file, with its name and type',
  })
  const members = { ...(spec.body as TObject).properties, [spec.multipart.file]: file }
  return { schema: Type.Object(members), mediaTypes: ['multipart/form-data'] }
}

// Moves the defaults of members into their descriptions. Generators of typed clients take a member with `default` for a
// member that is always there. That is true of what a server reads, but not of what a client sends.
function withDefaultsInWords(schema: TSchema): TSchema {
  const json = JSON.stringify(schema, (_, value: unknown) => (hasDefault(value) ? inWords(value) : value))
  return JSON.parse(json) as TSchema
}

type WithDefault = { default: unknown; description?: string }

function hasDefault(value: unknown): value is WithDefault {
  return typeof value === 'object' && value !== null && 'default' in value && ('type' in value || 'enum' in value)
}

function inWords({ default: fallback, description, ...rest }: WithDefault): object {
  return { ...rest, description: [description, `default \`${JSON.stringify(fallback)}\``].filter(Boolean).join('; ') }
}
