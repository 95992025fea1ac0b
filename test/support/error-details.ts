import { Compile } from 'typebox/schema'
import { type CatalogueEntry, errorCatalogue } from '../../shared/errors/error-catalogue.ts'

/**
 * Throws for an error answer whose details do not match the schema of its code: a member is unknown, missing or has a
 * wrong type. `body` is the parsed body of any answer.
 */
export function checkErrorDetails(body: unknown): void {
  const { error } = (body ?? {}) as { error?: { code?: unknown; details?: unknown } | null }
  const entry = (errorCatalogue as Record<string, CatalogueEntry>)[String(error?.code)]
  if (error == null || entry === undefined) return
  if (error.details === undefined && mayLackDetails(entry)) return
  if (entry.details !== undefined && closed(entry.details).Check(error.details)) return
  throw new Error(`the catalogue has other details for ${JSON.stringify(error)}`)
}

type JsonSchema = { [keyword: string]: unknown }

// Details may be absent if all their members are optional.
function mayLackDetails({ details }: CatalogueEntry): boolean {
  return details === undefined || closed(details).Check({})
}

const compiled = new Map<object, ReturnType<typeof Compile>>()

function closed(schema: object): ReturnType<typeof Compile> {
  const known = compiled.get(schema)
  if (known !== undefined) return known
  const check = Compile(withoutOthers(JSON.parse(JSON.stringify(schema)) as JsonSchema))
  compiled.set(schema, check)
  return check
}

// The schema, changed so that it refuses unknown members at any depth.
function withoutOthers(schema: JsonSchema): JsonSchema {
  const entries = Object.entries(schema).map(([keyword, value]) => [keyword, withinKeyword(keyword, value)])
  return { ...Object.fromEntries(entries), ...(schema['type'] === 'object' && { additionalProperties: false }) }
}

function withinKeyword(keyword: string, value: unknown): unknown {
  if (keyword === 'anyOf') return (value as JsonSchema[]).map(withoutOthers)
  if (keyword === 'items') return withoutOthers(value as JsonSchema)
  if (keyword !== 'properties') return value
  const members = Object.entries(value as Record<string, JsonSchema>)
  return Object.fromEntries(members.map(([name, schema]) => [name, withoutOthers(schema)]))
}
