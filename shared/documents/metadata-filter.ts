import { sql } from '../database/database.ts'
import { tagKey } from './metadata.ts'

type Fragment = ReturnType<typeof sql.fragment>

/**
 * A filter that a document passes with all of these tags and with all of these values of properties. There is at least
 * one of them.
 */
export type MetadataFilter = {
  tags: readonly string[]
  /**
   * A value as it is written in a query. It finds a property that is this text, this number or this boolean, and a list
   * that contains this text.
   */
  properties: readonly { name: string; value: string }[]
}

/** The condition that a row `d` of `documents` passes a filter. */
export function hasMetadata({ tags, properties }: MetadataFilter): Fragment {
  const all = [
    ...(tags.length === 0 ? [] : [sql.fragment`d.tag_keys @> ${sql.array(tags.map(tagKey), 'text')}`]),
    ...properties.map(({ name, value }) => {
      const forms = readings(value).map((form) => JSON.stringify({ [name]: form }))
      const matches = forms.map((form) => sql.fragment`d.properties @> ${form}::jsonb`)
      return sql.fragment`(${sql.join(matches, sql.fragment` OR `)})`
    }),
  ]
  return sql.fragment`${sql.join(all, sql.fragment` AND `)}`
}

/**
 * A statement for the ids of the documents of a workspace that may pass a filter, in the column `document_id`. The
 * index does not tell a number from a text, so the rows have to be tested by `hasMetadata`.
 */
export function documentsFoundBy({ tags, properties }: MetadataFilter, workspaceId: Fragment): Fragment {
  const found = [
    ...tags.map((tag) => [sql.fragment`(SELECT tag_filter(${tagKey(tag)}))`]),
    ...properties.map(({ name, value }) => {
      const texts = readings(value).flatMap((form) => (Array.isArray(form) ? [] : [JSON.stringify(form)]))
      return texts.map((json) => sql.fragment`(SELECT property_filter(${name}, ${json}::jsonb #>> '{}'))`)
    }),
  ].map((filters) => {
    const each = filters.map(
      (filter) => sql.fragment`
        SELECT f.document_id FROM document_filters f WHERE f.workspace_id = ${workspaceId} AND f.filter = ${filter}`,
    )
    return sql.fragment`(${sql.join(each, sql.fragment` UNION `)})`
  })
  return sql.fragment`${sql.join(found, sql.fragment` INTERSECT `)}`
}

/**
 * Whether `documentsFoundBy` finds no other documents than those that pass a filter. A number in a query may find other
 * documents, such as a text of the same digits for a number that is written differently.
 */
export function isFoundExactly({ properties }: MetadataFilter): boolean {
  return properties.every(({ value }) => readings(value).every((form) => typeof form !== 'number'))
}

// What a value in a query may mean: a text, a text in a list, a number or a boolean.
function readings(value: string): (string | string[] | number | boolean)[] {
  const number = /^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$/.test(value) ? Number(value) : Number.NaN
  return [
    value,
    [value],
    ...(Number.isFinite(number) ? [number] : []),
    ...(value === 'true' ? [true] : value === 'false' ? [false] : []),
  ]
}
