import type { TObject } from 'typebox'
import { offersMinimal } from '../../http/minimal-answer.ts'
import { otherFamilyPath } from '../../http/path-families.ts'
import { publishedQuery } from '../../http/rehearsal.ts'
import { bucketOf, isIdempotent, type Route, type Success } from '../../http/route.ts'
import { payloadOf } from '../openapi/payload.ts'
import type { JsonSchema, SchemaRegistry } from '../openapi/schemas.ts'
import { errorsOf } from '../route-errors.ts'
import { meaningOf, membersOf, typeOf } from './shapes.ts'
import { table } from './table.ts'

/** An endpoint as Markdown: its scopes, parameters and body, its answers and errors. */
export function endpointText(spec: Route, registry: SchemaRegistry): string {
  const scopes = spec.scopes.map((scope) => `\`${scope}\``).join(', ')
  return [
    `${spec.summary}.`,
    spec.extension && 'This endpoint is an [extension](#conventions) of the interface.',
    spec.description,
    otherPathOf(spec),
    `Scopes: ${scopes || (spec.access === 'anyone' ? 'no token is needed' : 'any valid token')}. Rate limit: \`${bucketOf(spec)}\`.${guardOf(spec)}`,
    parametersOf(spec, registry),
    bodyOf(spec, registry),
    ...spec.success.map((success) => successOf(success, registry)),
    rehearsalOf(spec, registry),
    errorsLine(spec),
  ]
    .filter(Boolean)
    .join('\n\n')
}

function otherPathOf(spec: Route): string | null {
  const path = otherFamilyPath(spec)
  return path === null ? null : `Also served as \`${spec.method} ${path}\`.`
}

function guardOf(spec: Route): string {
  const guard = { required: ' `If-Match` is required.', optional: ' `If-Match` is checked when sent.' }
  const condition = spec.conditional ? ' `If-None-Match` is honoured.' : ''
  const key = isIdempotent(spec) ? ' `Idempotency-Key` is honoured.' : ''
  const preference = offersMinimal(spec) ? ' `Prefer: return=minimal` is honoured.' : ''
  const resumption = spec.stream ? ' `Last-Event-ID` resumes.' : ''
  return `${spec.guard === undefined ? '' : guard[spec.guard]}${condition}${key}${preference}${resumption}`
}

function parametersOf(spec: Route, registry: SchemaRegistry): string | null {
  const rows = [
    ...parameterRows({ location: 'path', schema: spec.params, registry }),
    ...parameterRows({ location: 'query', schema: publishedQuery(spec), registry }),
  ]
  return rows.length === 0 ? null : table({ head: ['Parameter', 'In', 'Type', 'Meaning'], rows })
}

function parameterRows(input: { location: string; schema: TObject | undefined; registry: SchemaRegistry }): string[][] {
  const required: readonly string[] = input.schema?.required ?? []
  return Object.entries(input.schema?.properties ?? {}).map(([name, property]) => {
    const schema = input.registry.publish(property)
    const meaning = [required.includes(name) ? 'required' : undefined, meaningOf(schema) || undefined]
    return [`\`${name}\``, input.location, typeOf(schema), meaning.filter((part) => part !== undefined).join('; ')]
  })
}

function bodyOf(spec: Route, registry: SchemaRegistry): string | null {
  const payload = payloadOf(spec)
  if (payload === null) return null
  const schema: JsonSchema = registry.publish(payload.schema)
  const mediaTypes = payload.mediaTypes.map((type) => `\`${type}\``).join(' or ')
  return [`Body (${mediaTypes}):`, membersOf(schema) ?? typeOf(schema)].join('\n\n')
}

function successOf(success: Success, registry: SchemaRegistry): string {
  const { status, description, data, media, list, members = {} } = success
  const shape =
    data === null
      ? withoutEnvelope(media)
      : `\`data\` is ${list ? 'an array of ' : ''}${typeOf(registry.publish(data))}`
  const others = Object.entries(members).map(([name, schema]) => `\`${name}\` is ${typeOf(registry.publish(schema))}`)
  const headers = [success.etag ? '`ETag`' : '', success.location ? '`Location`' : ''].filter(Boolean)
  const sent = headers.length === 0 ? '' : ` Headers: ${headers.join(', ')}.`
  return `**${status}** ${description}: ${[shape, ...(list ? ['`page`'] : []), ...others].join('; ')}.${sent}`
}

function rehearsalOf({ rehearsal }: Route, registry: SchemaRegistry): string | null {
  if (rehearsal === undefined) return null
  return `With \`dry_run=true\` nothing is stored: \`data.diff\` is ${typeOf(registry.publish(rehearsal.diff))}. Header: \`Dry-Run\`.`
}

function withoutEnvelope(media: string | undefined): string {
  return media === undefined ? 'no body' : `\`${media}\``
}

function errorsLine(spec: Route): string {
  const statuses = [...errorsOf(spec)].map(
    ([status, codes]) => `${status} ${codes.map((code) => `\`${code}\``).join(', ')}`,
  )
  return `Errors: ${statuses.join(' · ')}.`
}
