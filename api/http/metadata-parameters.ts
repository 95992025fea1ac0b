import Type from 'typebox'
import { propertyLimits, propertyNamePattern, TagInput, tagLimits } from '../../shared/documents/metadata.ts'
import type { MetadataFilter } from '../../shared/documents/metadata-filter.ts'
import { Text } from '../../shared/schema/strings.ts'

/** The query parameters that filter documents by tags and properties. */
export const metadataParameters = {
  tag: Type.Optional(
    Type.Array(TagInput, {
      maxItems: tagLimits.tags,
      description: 'may be repeated; documents that have all of the tags',
    }),
  ),
  property: Type.Optional(
    Type.Record(Type.String({ pattern: propertyNamePattern }), Text({ max: propertyLimits.characters }), {
      additionalProperties: false,
      maxProperties: propertyLimits.properties,
      description: '`property[name]=value`: documents with this value, or with a list that contains it',
    }),
  ),
}

/** The filter that a query asks for; undefined when the query names no tag and no property. */
export function metadataFilter(query: {
  tag?: readonly string[] | undefined
  property?: Readonly<Record<string, string>> | undefined
}): MetadataFilter | undefined {
  const tags = query.tag ?? []
  const properties = Object.entries(query.property ?? {}).map(([name, value]) => ({ name, value }))
  return tags.length + properties.length === 0 ? undefined : { tags, properties }
}
