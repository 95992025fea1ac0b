import Type, { type Static } from 'typebox'
import { Refusal } from '../errors/errors.ts'
import { caseFolded, Text, TrimmedText } from '../schema/strings.ts'

/** The most tags of a document, and the longest tag in code points. */
export const tagLimits = { tags: 50, characters: 64 }

/**
 * The most properties of a document, the longest text and the longest list of a property, and the most bytes of all
 * properties as JSON.
 */
export const propertyLimits = { properties: 50, characters: 1000, items: 50, bytes: 256 * 1024 }

/** The form of the name of a property. */
export const propertyNamePattern = '^[A-Za-z][A-Za-z0-9_-]{0,63}$'

/** A tag in a request. */
export const TagInput = TrimmedText({ min: 1, max: tagLimits.characters })

const text = Text({ max: propertyLimits.characters })
const kinds = [Type.Number(), Type.Boolean(), Type.Array(text, { maxItems: propertyLimits.items })] as const
const PropertyInput = Type.Union([text, ...kinds])
const name = Type.String({ pattern: propertyNamePattern })

/** The members of a document that people sort documents by, as the API returns them. */
export const documentMetadataMembers = {
  tags: Type.Array(Type.String(), { description: 'as the knowledge base spells them' }),
  properties: Type.Record(
    Type.String(),
    Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Array(Type.String())]),
    { description: 'values by name' },
  ),
}

/** Properties of a document: each value is a text, a number, a boolean or a list of texts. */
export type Properties = Static<typeof documentMetadataMembers.properties>

/** The members `tags` and `properties` of a request. */
export const metadataInputMembers = {
  tags: Type.Optional(
    Type.Array(TagInput, {
      maxItems: tagLimits.tags,
      description: 'all tags; compared without case, in the first spelling of the knowledge base',
    }),
  ),
  properties: Type.Optional(
    Type.Refine(
      Type.Record(name, PropertyInput, {
        additionalProperties: false,
        maxProperties: propertyLimits.properties,
        description: `all properties, at most ${propertyLimits.bytes} bytes of JSON`,
      }),
      fits,
      () => tooLarge,
    ),
  ),
}

/** The member `properties_patch` of a PATCH, a JSON merge patch (RFC 7386). */
export const propertiesPatchMember = Type.Optional(
  Type.Record(name, Type.Union([text, ...kinds, Type.Null()]), {
    additionalProperties: false,
    description: 'JSON merge patch (RFC 7386): null removes a property, other properties stay; not with `properties`',
  }),
)

/** The member `tags_patch` of a PATCH. */
export const tagsPatchMember = Type.Optional(
  Type.Object(
    {
      add: Type.Optional(Type.Array(TagInput, { maxItems: tagLimits.tags })),
      remove: Type.Optional(Type.Array(TagInput, { maxItems: tagLimits.tags })),
    },
    { description: 'tags to add and to remove, other tags stay; not with `tags`' },
  ),
)

/** A change of properties: a value for each name, or null to remove the property. */
export type PropertiesPatch = Record<string, Properties[string] | null>

/** A change of tags. */
export type TagsPatch = Static<typeof tagsPatchMember>

/** Tags as a document stores them: trimmed, each once, with the keys by which they are compared. */
export function storedTags(tags: readonly string[]): { tags: string[]; tag_keys: string[] } {
  const byKey = new Map<string, string>()
  for (const tag of tags) if (!byKey.has(tagKey(tag))) byKey.set(tagKey(tag), tag.trim())
  return { tags: [...byKey.values()], tag_keys: [...byKey.keys()] }
}

/** The key by which a tag is compared. */
export function tagKey(tag: string): string {
  return caseFolded(tag.trim())
}

/** Adds and removes tags. Refuses with 400 `invalid_request` when the document would have too many tags. */
export function patchedTags(tags: readonly string[], { add = [], remove = [] }: TagsPatch): string[] {
  const removed = new Set(remove.map(tagKey))
  const patched = storedTags([...tags.filter((tag) => !removed.has(tagKey(tag))), ...add]).tags
  if (patched.length <= tagLimits.tags) return patched
  throw refused(`must leave at most ${tagLimits.tags} tags, not ${patched.length}`, '/tags_patch')
}

/**
 * Applies a merge patch to properties. Refuses with 400 `invalid_request` when the document would have too many
 * properties, or too large ones.
 */
export function patchedProperties(properties: Properties, patch: PropertiesPatch): Properties {
  const merged = Object.entries({ ...properties, ...patch }).filter(([, value]) => value !== null)
  const result = Object.fromEntries(merged) as Properties
  if (merged.length > propertyLimits.properties) {
    throw refused(`must leave at most ${propertyLimits.properties} properties, not ${merged.length}`)
  }
  if (!fits(result)) throw refused(tooLarge)
  return result
}

const tooLarge = `must leave at most ${propertyLimits.bytes} bytes of properties as JSON`

function fits(properties: unknown): boolean {
  return Buffer.byteLength(JSON.stringify(properties)) <= propertyLimits.bytes
}

function refused(message: string, path = '/properties_patch'): Refusal {
  return new Refusal('invalid_request', { details: { fields: [{ path, message }] } })
}
