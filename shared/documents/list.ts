import { type Queryable, sql } from '../database/database.ts'
import { mergedPage } from '../database/workspaces.ts'
import { documentsFoundBy, hasMetadata, type MetadataFilter } from './metadata-filter.ts'
import { DocumentRow, documentColumns } from './queries.ts'

type Fragment = ReturnType<typeof sql.fragment>

// How many documents are looked through in the order of the list before the index of titles is asked.
const lookedThrough = 500
// If the index of titles names at most so many documents, these are sorted. If it names more, matches are so frequent
// that reading the list in its order soon finds them.
const sortedTitles = 1000

/** The filters and sort order of a list of documents; `after` is the position of the last document seen. */
export type DocumentFilter = {
  workspaceIds: readonly string[]
  knowledgeBaseId?: number | undefined
  folderId?: number | undefined
  titleContains?: string | undefined
  updatedSince?: number | undefined
  locale?: string | undefined
  includeVariants: boolean
  metadata?: MetadataFilter | undefined
  sort: 'id' | 'updated_at'
  after: readonly (string | number)[] | null
  limit: number
}

/** Returns up to `limit + 1` visible documents after a position, so that the caller sees if more follow. */
export function documentPage(db: Queryable, filter: DocumentFilter): Promise<readonly DocumentRow[]> {
  const { workspaceIds, titleContains, metadata } = filter
  const pageOf = (workspaceId: Fragment) => {
    if (titleContains !== undefined) return titled({ ...filter, titleContains }, workspaceId)
    if (metadata !== undefined) return labelled({ ...filter, metadata }, workspaceId)
    return ordered(filter, listed(filter, workspaceId))
  }
  return db.any(sql.type(DocumentRow)`
    ${mergedPage({
      workspaceIds,
      pageOf,
      order: orderOf(filter, 'page'),
      limit: filter.limit + 1,
      isRead: hasPlace(filter),
    })}`)
}

// A knowledge base or folder is in one workspace, so a filter by it needs no other workspace. Otherwise all documents
// of the other workspaces would be read in vain.
function hasPlace({ knowledgeBaseId, folderId }: DocumentFilter) {
  const directories = [
    ...(knowledgeBaseId === undefined ? [] : [sql.fragment`knowledge_base_directory WHERE id = ${knowledgeBaseId}`]),
    ...(folderId === undefined ? [] : [sql.fragment`folder_directory WHERE id = ${folderId}`]),
  ]
  const conditions = sql.join(
    [sql.fragment`true`, ...directories.map((of) => sql.fragment`workspace.id = (SELECT workspace_id FROM ${of})`)],
    sql.fragment` AND `,
  )
  return sql.fragment`${conditions}`
}

// A page of documents whose title contains a text. The beginning of the list often holds the page. Otherwise the index
// names the documents that may match, if they are few. If they are many, the list is read in its order.
function titled(filter: DocumentFilter & { titleContains: string }, workspaceId: Fragment) {
  const { knowledgeBaseId = null, folderId = null, titleContains, limit } = filter
  const matches = sql.fragment`strpos(lower(d.title), lower(${titleContains})) > 0`
  const isEnough = sql.fragment`(SELECT enough FROM looked)`
  const namedFew = sql.fragment`(SELECT count(*) FROM named) <= ${sortedTitles}`
  // The words come from a subselect, so that the planner does not see them. For words that are frequent the planner
  // would read the table instead of its index.
  return sql.fragment`
    WITH beginning AS MATERIALIZED (
      ${ordered({ ...filter, limit: lookedThrough - 1 }, listed(filter, workspaceId))}
    ), looked AS MATERIALIZED (
      SELECT count(*) < ${lookedThrough} OR count(*) FILTER (WHERE ${matches}) > ${limit} AS enough FROM beginning d
    ), named AS MATERIALIZED (
      SELECT t.document_id FROM document_titles t
      WHERE NOT ${isEnough} AND title_words(t.workspace_id, t.knowledge_base_id, t.folder_id, t.title) @@ (
        SELECT title_words_of_part(${workspaceId}::text, ${knowledgeBaseId}::int8, ${folderId}::int8, ${titleContains}))
      LIMIT ${sortedTitles + 1}
    )
    SELECT d.* FROM (
      SELECT d.* FROM beginning d WHERE ${isEnough} AND ${matches}
      UNION ALL
      (${ordered(
        filter,
        sql.fragment`named n
          CROSS JOIN LATERAL (
            SELECT * FROM documents d WHERE d.workspace_id = ${workspaceId} AND d.id = n.document_id LIMIT 1
          ) AS d
          WHERE NOT ${isEnough} AND ${namedFew} AND ${conditions(filter, workspaceId)} AND ${matches}`,
      )})
      UNION ALL
      (${ordered(
        filter,
        sql.fragment`${listed(filter, workspaceId)} AND NOT ${isEnough} AND NOT ${namedFew} AND ${matches}`,
      )})
    ) AS d ORDER BY ${orderOf(filter, 'd')} LIMIT ${limit + 1}`
}

// A page of documents with tags or properties. The beginning of the list often holds the page. Otherwise the index
// names all documents that may match, and these are sorted. The planner cannot know how the documents that match lie in
// the order of the list, and would read the whole list where they come late.
function labelled(filter: DocumentFilter & { metadata: MetadataFilter }, workspaceId: Fragment) {
  const { metadata, limit, ...others } = filter
  const matches = hasMetadata(metadata)
  const isEnough = sql.fragment`(SELECT enough FROM looked)`
  const beginning = { ...others, metadata: undefined, limit: lookedThrough - 1 }
  return sql.fragment`
    WITH beginning AS MATERIALIZED (
      ${ordered(beginning, listed(beginning, workspaceId), sql.fragment`, d.tag_keys`)}
    ), looked AS MATERIALIZED (
      SELECT count(*) < ${lookedThrough} OR count(*) FILTER (WHERE ${matches}) > ${limit} AS enough FROM beginning d
    ), named AS MATERIALIZED (
      SELECT f.document_id FROM (${documentsFoundBy(metadata, workspaceId)}) AS f WHERE NOT ${isEnough}
    )
    SELECT ${documentColumns} FROM (
      SELECT d.* FROM beginning d WHERE ${isEnough} AND ${matches}
      UNION ALL
      (${ordered(
        filter,
        sql.fragment`named n
          CROSS JOIN LATERAL (
            SELECT * FROM documents d WHERE d.workspace_id = ${workspaceId} AND d.id = n.document_id LIMIT 1
          ) AS d
          WHERE NOT ${isEnough} AND ${conditions(filter, workspaceId)}`,
        sql.fragment`, d.tag_keys`,
      )})
    ) AS d ORDER BY ${orderOf(filter, 'd')} LIMIT ${limit + 1}`
}

function ordered(filter: DocumentFilter, documents: Fragment, further: Fragment = sql.fragment``) {
  return sql.fragment`
    SELECT ${documentColumns}${further} FROM ${documents} ORDER BY ${orderOf(filter, 'd')} LIMIT ${filter.limit + 1}`
}

// The documents of a list, from a table that has an index in the order of the list. `documents` has no index by locale,
// nor by folder and id. So `document_titles` is read when the list has such a filter.
function listed(filter: DocumentFilter, workspaceId: Fragment) {
  const { locale, after } = filter
  const folderId = filter.sort === 'id' ? filter.folderId : undefined
  if (locale === undefined && folderId === undefined) {
    return sql.fragment`documents d WHERE ${conditions(filter, workspaceId)}`
  }
  const byTitle = [
    sql.fragment`t.workspace_id = ${workspaceId}`,
    ...(locale === undefined ? [] : [sql.fragment`t.locale = ${locale}`]),
    ...(folderId === undefined ? [] : [sql.fragment`t.folder_id = ${folderId}`]),
    ...(after === null || filter.sort !== 'id' ? [] : [sql.fragment`t.document_id > ${after[0] ?? ''}`]),
  ]
  // Each condition is tested on one of the two tables only. If a condition were tested on both, the planner would
  // expect fewer documents than there are.
  const others = {
    ...filter,
    includeVariants: filter.includeVariants || locale !== undefined,
    locale: undefined,
    folderId: folderId === undefined ? filter.folderId : undefined,
  }
  return sql.fragment`
    document_titles t JOIN documents d ON d.workspace_id = t.workspace_id AND d.id = t.document_id
    WHERE ${sql.join(byTitle, sql.fragment` AND `)} AND ${conditions(others, workspaceId)}`
}

function orderOf({ sort }: DocumentFilter, of: 'd' | 'page') {
  const column = (name: string) => sql.identifier([of, name])
  return sort === 'id'
    ? sql.fragment`${column('id')}`
    : sql.fragment`${column('updated_at')} DESC, ${column('id')} DESC`
}

function conditions(filter: DocumentFilter, workspaceId: Fragment) {
  const { knowledgeBaseId, folderId, updatedSince, locale, metadata, after } = filter
  const [first, second] = after ?? []
  return sql.join(
    [
      sql.fragment`d.workspace_id = ${workspaceId}`,
      ...(knowledgeBaseId === undefined ? [] : [sql.fragment`d.knowledge_base_id = ${knowledgeBaseId}`]),
      ...(folderId === undefined ? [] : [sql.fragment`d.folder_id = ${folderId}`]),
      ...(updatedSince === undefined ? [] : [sql.fragment`d.updated_at >= ${instant(updatedSince)}`]),
      ...(locale === undefined ? [] : [sql.fragment`d.locale = ${locale}`]),
      ...(metadata === undefined ? [] : [hasMetadata(metadata)]),
      ...(locale !== undefined || filter.includeVariants
        ? []
        : [sql.fragment`d.variant_role IS DISTINCT FROM 'translation'`]),
      ...(first === undefined
        ? []
        : filter.sort === 'id'
          ? [sql.fragment`d.id > ${first}`]
          : [sql.fragment`(d.updated_at, d.id) < (${instant(Number(first))}, ${second ?? ''})`]),
    ],
    sql.fragment` AND `,
  )
}

const instant = (milliseconds: number) => sql.fragment`to_timestamp(${milliseconds}::float8 / 1000)::timestamptz(3)`
