import { STATUS_CODES } from 'node:http'
import { IsObject, type TSchema } from 'typebox'
import { type CatalogueEntry, errorCatalogue } from '../../../shared/errors/error-catalogue.ts'
import type { ErrorCode } from '../../../shared/errors/errors.ts'
import { offersMinimal } from '../../http/minimal-answer.ts'
import { isIdempotent, type Route, type Success } from '../../http/route.ts'
import { errorsOf } from '../route-errors.ts'
import { countedHeaders, headerReferences, type headers, sharedResponses } from './components.ts'
import { answerExample } from './examples.ts'
import type { JsonSchema, SchemaRegistry } from './schemas.ts'

/**
 * The `responses` member of an operation: its successes, 304 where the route honours If-None-Match, and its errors by
 * status.
 */
export function responsesOf(spec: Route, registry: SchemaRegistry): Record<string, object> {
  return Object.fromEntries([
    ...spec.success.map((success) => [success.status, successResponse({ spec, success, registry })]),
    ...(spec.conditional ? [[304, notModified]] : []),
    ...[...errorsOf(spec)].map(([status, codes]) => [status, errorReference({ status, codes, registry })]),
  ])
}

/** A status, the error codes that have the status, and the registry that takes the schemas of error details. */
type ErrorStatus = { status: number; codes: readonly ErrorCode[]; registry: SchemaRegistry }

/** An error response: the description lists the codes, and the schema gives each code its details. */
export function errorResponse({ status, codes, registry }: ErrorStatus): object {
  const meanings = codes.map((code) => `- \`${code}\`: ${errorCatalogue[code].message}`)
  return {
    description: [`${STATUS_CODES[status]}.`, '', ...meanings].join('\n'),
    headers: headerReferences(...errorHeaders(status, codes)),
    content: {
      'application/json': {
        schema: {
          allOf: [
            { $ref: '#/components/schemas/Error' },
            { type: 'object', properties: { error: errorOf(codes, registry) } },
          ],
        },
      },
    },
  }
}

const notModified = {
  description: 'The client has the current version.',
  headers: headerReferences(...countedHeaders, 'ETag'),
}

// Describes the member `error`. Codes whose details have the same schema share one alternative of a union, so that the
// description stays short.
function errorOf(codes: readonly ErrorCode[], registry: SchemaRegistry): JsonSchema {
  const detailsOf = (code: ErrorCode) => (errorCatalogue[code] as CatalogueEntry).details
  const alternatives = [...Map.groupBy(codes, detailsOf)].map(([details, members]) => {
    const code = { type: 'string', enum: members }
    if (details === undefined) return { type: 'object', properties: { code } }
    const required = isOptional(details) ? [] : ['details']
    return { type: 'object', required, properties: { code, details: registry.publish(details) } }
  })
  const [only] = alternatives
  return alternatives.length === 1 && only !== undefined ? only : { anyOf: alternatives }
}

// A code whose details have no required member may come without details.
function isOptional(details: TSchema & { required?: readonly string[] }): boolean {
  const { required = [] } = details
  return IsObject(details) && required.length === 0
}

function errorReference({ status, codes, registry }: ErrorStatus): object {
  const shared = Object.entries(sharedResponses).find(
    ([, response]) => response.status === status && response.codes.join() === codes.join(),
  )
  return shared === undefined
    ? errorResponse({ status, codes, registry })
    : { $ref: `#/components/responses/${shared[0]}` }
}

function errorHeaders(status: number, codes: readonly ErrorCode[]): (keyof typeof headers)[] {
  if (status === 401) return ['RequestId', 'WwwAuthenticate']
  const retries: ErrorCode[] = ['rate_limited', 'slow_down', 'idempotency_in_progress', 'service_unavailable']
  return [
    ...countedHeaders,
    ...(status === 403 && codes.includes('insufficient_scope') ? (['WwwAuthenticate'] as const) : []),
    ...(codes.includes('version_conflict') ? (['ETag'] as const) : []),
    ...(codes.some((code) => retries.includes(code)) ? (['RetryAfter'] as const) : []),
  ]
}

type DeclaredSuccess = { spec: Route; success: Success; registry: SchemaRegistry }

function successResponse(input: DeclaredSuccess): object {
  const { spec, success } = input
  const names = [
    ...countedHeaders,
    ...(success.etag ? (['ETag'] as const) : []),
    ...(success.location ? (['Location'] as const) : []),
    ...(isIdempotent(spec) ? (['IdempotentReplayed'] as const) : []),
    ...(spec.rehearsal !== undefined ? (['DryRun'] as const) : []),
    ...(offersMinimal(spec) ? (['PreferenceApplied'] as const) : []),
  ]
  const response = { description: success.description, headers: headerReferences(...names) }
  if (success.media !== undefined)
    return { ...response, content: { [success.media]: { schema: bodyOf(success.media) } } }
  if (success.data === null) return response
  const content = { schema: envelopeOf(input), ...answerExample(spec.operationId, success.status) }
  return { ...response, content: { 'application/json': content } }
}

// OpenAPI 3.1 describes bytes by their media type alone, but text as a string.
function bodyOf(media: string): JsonSchema {
  return media.startsWith('text/') ? { type: 'string' } : {}
}

function envelopeOf({ spec, success, registry }: DeclaredSuccess): JsonSchema {
  const data = dataOf({ spec, success, registry })
  const properties: Record<string, JsonSchema> = {
    data: success.list ? { type: 'array', items: data } : data,
    ...(success.list && { page: { $ref: '#/components/schemas/Page' } }),
    ...Object.fromEntries(
      Object.entries(success.members ?? {}).map(([name, schema]) => [name, registry.publish(schema)]),
    ),
    request_id: { type: 'string' },
  }
  return { type: 'object', required: Object.keys(properties), properties }
}

// The answer of a rehearsed write has the member `diff` besides the members of the real answer.
function dataOf({ spec, success, registry }: DeclaredSuccess): JsonSchema {
  const data = success.data === null ? {} : registry.publish(success.data)
  if (spec.rehearsal === undefined) return data
  return { allOf: [data, { type: 'object', properties: { diff: registry.publish(spec.rehearsal.diff) } }] }
}
