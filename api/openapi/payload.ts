import Type, { type TObject, type TSchema } from 'typebox'
import type { Route } from '../route.ts'

/** The body of a route as it is published, with its media types; null where there is none. A form shows its file. */
export function payloadOf(spec: Route): { schema: TSchema; mediaTypes: readonly string[] } | null {
  if (spec.body === undefined) return null
  if (spec.multipart === undefined) {
    return { schema: spec.body, mediaTypes: ['application/json', ...(spec.mediaTypes ?? [])] }
  }
  const file = Type.String({
    contentMediaType: 'application/octet-stream',
    description: 'the file, with its name and type',
  })
  const members = { ...(spec.body as TObject).properties, [spec.multipart.file]: file }
  return { schema: Type.Object(members), mediaTypes: ['multipart/form-data'] }
}
