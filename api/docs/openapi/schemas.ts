import type { TSchema } from 'typebox'

/** A JSON Schema of the 2020-12 dialect, as OpenAPI 3.1 embeds it. */
export type JsonSchema = { [keyword: string]: unknown }

/*
 * Two keywords of this service say how a schema is published. `x-published` holds another schema, which is published in
 * place of the schema that has the keyword. The other schema serves where other code checks a value more precisely than
 * the declared schema. `x-discriminator` names the property by which the alternatives of a union differ.
 */

/** Collects the named schemas of a description while its operations are written. */
export type SchemaRegistry = {
  /** The published form of a schema: a `$ref` when the schema has an `$id`, otherwise the schema itself. */
  publish: (schema: TSchema) => JsonSchema
  /** The members of `components.schemas`; throws when a `$ref` names a schema that was never published. */
  components: () => Record<string, JsonSchema>
}

/**
 * Makes an empty registry. Every schema with an `$id` becomes a component with the `$id` as its name, however deep the
 * schema is nested. Two different schemas of one name are an error. A schema refers to itself with `Type.This()` and to
 * a named schema with `Type.Ref(name)`. Schemas that refer to each other are declared with `Type.Cyclic`.
 */
export function schemaRegistry(): SchemaRegistry {
  const registry: Registry = { components: {}, sources: new Map(), referenced: new Set() }
  return {
    publish: (schema) => published(asJson(schema), { registry, resource: null }),
    components() {
      const missing = [...registry.referenced].filter((name) => !(name in registry.components))
      if (missing.length > 0) throw new Error(`schemas are referred to but not published: ${missing.join(', ')}`)
      return Object.fromEntries(Object.entries(registry.components).sort(([a], [b]) => (a < b ? -1 : 1)))
    },
  }
}

type Registry = { components: Record<string, JsonSchema>; sources: Map<string, string>; referenced: Set<string> }

/**
 * The position of a schema. `resource` is the nearest enclosing `$id`, which `#` refers to, or null where no schema
 * around has an `$id`.
 */
type SchemaPosition = { registry: Registry; resource: string | null }

const schemaLists = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems'])
const schemaMaps = new Set(['properties', 'patternProperties', 'dependentSchemas'])
const schemas = new Set(['items', 'additionalProperties', 'contains', 'propertyNames', 'not', 'if', 'then', 'else'])

// The private properties of TypeBox are not enumerable, so JSON leaves them out.
function asJson(schema: TSchema): JsonSchema {
  return JSON.parse(JSON.stringify(schema)) as JsonSchema
}

function published(declared: JsonSchema, position: SchemaPosition): JsonSchema {
  const schema = (declared['x-published'] as JsonSchema | undefined) ?? declared
  const { $id: name } = schema
  if (typeof name !== 'string') return members(schema, position)
  const { registry } = position
  const source = JSON.stringify(schema)
  const known = registry.sources.get(name)
  if (known !== undefined && known !== source) throw new Error(`two different schemas are called ${name}`)
  if (known === undefined) {
    registry.sources.set(name, source)
    registry.components[name] = members(schema, { registry, resource: name })
  }
  return { $ref: `#/components/schemas/${name}` }
}

function members(schema: JsonSchema, position: SchemaPosition): JsonSchema {
  for (const definition of Object.values((schema['$defs'] ?? {}) as Record<string, JsonSchema>)) {
    published(definition, position)
  }
  const kept = Object.entries(schema).filter(([keyword]) => !['$id', '$defs'].includes(keyword) && !isMark(keyword))
  const own = Object.fromEntries(kept.map(([keyword, value]) => [keyword, member({ keyword, value }, position)]))
  const property = schema['x-discriminator']
  return typeof property === 'string' ? discriminated(own, { schema, property }) : own
}

// Publishes a union with `x-discriminator` as `oneOf`, because exactly one alternative fits a value. Each alternative
// is named by the constant of its member `property`.
function discriminated(own: JsonSchema, { schema, property }: { schema: JsonSchema; property: string }): JsonSchema {
  const { anyOf, ...rest } = own as { anyOf: { $ref: string }[] }
  const alternatives = schema['anyOf'] as { properties: Record<string, { const: string }> }[]
  const mapping = alternatives.map(({ properties }, index) => [properties[property]?.const, anyOf[index]?.$ref])
  return { ...rest, oneOf: anyOf, discriminator: { propertyName: property, mapping: Object.fromEntries(mapping) } }
}

// Whether a keyword is for this service and not for its clients, such as `x-error`. Such keywords are not published.
function isMark(keyword: string): boolean {
  return keyword.startsWith('x-')
}

function member({ keyword, value }: { keyword: string; value: unknown }, position: SchemaPosition): unknown {
  if (keyword === '$ref') return reference(String(value), position)
  if (schemaLists.has(keyword)) return (value as JsonSchema[]).map((schema) => published(schema, position))
  if (schemaMaps.has(keyword)) {
    const entries = Object.entries(value as Record<string, JsonSchema>)
    return Object.fromEntries(entries.map(([name, schema]) => [name, published(schema, position)]))
  }
  if (schemas.has(keyword) && typeof value === 'object') return published(value as JsonSchema, position)
  return value
}

function reference(target: string, position: SchemaPosition): string {
  const name = target === '#' ? position.resource : target
  if (name === null) throw new Error('a schema that refers to itself needs an $id')
  position.registry.referenced.add(name)
  return `#/components/schemas/${name}`
}
