import Type, { type TObject } from 'typebox'
import { offersMinimal } from '../../http/minimal-answer.ts'
import { otherFamilyPath } from '../../http/path-families.ts'
import { publishedQuery } from '../../http/rehearsal.ts'
import { bucketOf, isIdempotent, type Route } from '../../http/route.ts'
import { requestExample } from './examples.ts'
import { payloadOf } from './payload.ts'
import { responsesOf } from './responses.ts'
import type { SchemaRegistry } from './schemas.ts'

/** The operation object of a route in the OpenAPI description. */
export function operationOf(spec: Route, registry: SchemaRegistry): object {
  return {
    operationId: spec.operationId,
    summary: spec.summary,
    description: descriptionOf(spec),
    tags: [spec.tag],
    ...(spec.extension && { 'x-extension': true }),
    security: spec.access === 'anyone' ? [] : [{ bearer: [...spec.scopes] }, { oauth2: [...spec.scopes] }],
    parameters: [
      ...parametersOf({ location: 'path', schema: spec.params, registry }),
      ...parametersOf({ location: 'query', schema: publishedQuery(spec), registry }),
      ...headerParametersOf(spec),
    ],
    ...requestBodyOf(spec, registry),
    responses: responsesOf(spec, registry),
  }
}

function descriptionOf(spec: Route): string {
  const scopes = spec.scopes.map((scope) => `\`${scope}\``).join(', ')
  const any = spec.access === 'anyone' ? 'No token is needed.' : 'Any valid token will do.'
  const needs = scopes === '' ? any : `Scopes: ${scopes}.`
  const otherPath = otherFamilyPath(spec)
  const also = otherPath === null ? '' : `Also served as \`${spec.method} ${otherPath}\`.`
  return [spec.description, also, `${needs} Rate limit: \`${bucketOf(spec)}\`.`].filter(Boolean).join('\n\n')
}

function parametersOf(input: { location: 'path' | 'query'; schema: TObject | undefined; registry: SchemaRegistry }) {
  const { location, schema, registry } = input
  const required: readonly string[] = schema?.required ?? []
  return Object.entries(schema?.properties ?? {}).map(([name, property]) => {
    const { description, ...published } = registry.publish(property)
    const isRequired = location === 'path' || required.includes(name)
    return {
      name,
      in: location,
      required: isRequired,
      // Written `name[key]=value`.
      ...(Type.IsRecord(property) && { style: 'deepObject' }),
      ...(description !== undefined && { description }),
      schema: published,
    }
  })
}

function headerParametersOf(spec: Route): object[] {
  const names = [
    ...(isIdempotent(spec) ? ['IdempotencyKey'] : []),
    ...(spec.guard === 'required' ? ['RequiredIfMatch'] : []),
    ...(spec.guard === 'optional' ? ['IfMatch'] : []),
    ...(spec.conditional ? ['IfNoneMatch'] : []),
    ...(offersMinimal(spec) ? ['Prefer'] : []),
    ...(spec.stream ? ['LastEventId'] : []),
    'RequestId',
  ]
  return names.map((name) => ({ $ref: `#/components/parameters/${name}` }))
}

function exampleOf(spec: Route, mediaType: string): { example?: unknown } {
  return mediaType === 'application/json' ? requestExample(spec.operationId) : {}
}

// Describes the request body of a route. A body whose members are all optional may be absent.
function requestBodyOf(spec: Route, registry: SchemaRegistry): object {
  const payload = payloadOf(spec)
  if (payload === null) return {}
  const body: { required?: readonly string[]; anyOf?: unknown; allOf?: unknown } = payload.schema
  const schema = registry.publish(payload.schema)
  const requestBody = {
    required: (body.required ?? []).length > 0 || body.anyOf !== undefined || body.allOf !== undefined,
    content: Object.fromEntries(
      payload.mediaTypes.map((mediaType) => [mediaType, { schema, ...exampleOf(spec, mediaType) }]),
    ),
  }
  return { requestBody }
}
