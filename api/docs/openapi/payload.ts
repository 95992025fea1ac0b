import Type, { type TObject, type TSchema } from 'typebox'
import type { Route } from '../../http/route.ts'

/**
 * The published schema of the request body of a route, and the media types of the body; null for a route without a
 * body. The schema of a form has a member for its file.
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
// member that is always there. Such a type is wrong for a client, which may leave the member out.
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
