import { type Queryable, sql } from '../database/database.ts'
import { type NamedList, nameSearch } from '../database/name-search.ts'
import { mergedPage } from '../database/workspaces.ts'
import { DocumentRow, documentColumns } from './queries.ts'

type Fragment = ReturnType<typeof sql.fragment>

/** The filters and sort order of a list of documents; `after` is the position of the last document seen. */
export type DocumentFilter = {
  workspaceIds: readonly string[]
  knowledgeBaseId?: number | undefined
  folderId?: number | undefined
  titleContains?: string | undefined
  updatedSince?: number | undefined
  locale?: string | undefined
  includeVariants: boolean
  sort: 'id' | 'updated_at'
  after: readonly (string | number)[] | null
  limit: number
}

/** Returns up to `limit + 1` visible documents after a position, so that the caller sees if more follow. */
export function documentPage(db: Queryable, filter: DocumentFilter): Promise<readonly DocumentRow[]> {
  const { workspaceIds, titleContains } = filter
  const pageOf = (workspaceId: Fragment) =>
    titleContains === undefined
      ? ordered(filter, listed(filter, workspaceId), filter.limit + 1)
      : titled({ ...filter, titleContains }, workspaceId)
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

function titled(filter: DocumentFilter & { titleContains: string }, workspaceId: Fragment) {
  const { knowledgeBaseId = null, folderId = null, titleContains, limit } = filter
  const list: NamedList = {
    alias: 'd',
    name: 'title',
    listed: listed(filter, workspaceId),
    byId: sql.fragment`documents d WHERE d.workspace_id = ${workspaceId}`,
    conditions: conditions(filter, workspaceId),
    mayMatch: sql.fragment`
      SELECT document_id AS id FROM document_titles
      WHERE title_words(workspace_id, knowledge_base_id, folder_id, title) @@ (
        SELECT title_words_of_part(${workspaceId}::text, ${knowledgeBaseId}::int8, ${folderId}::int8, ${titleContains}))`,
    order: orderOf(filter, 'd'),
    ordered: (documents, count) => ordered(filter, documents, count),
  }
  return nameSearch(list, { text: titleContains, count: limit + 1 })
}

function ordered(filter: DocumentFilter, documents: Fragment, count: number) {
  return sql.fragment`SELECT ${documentColumns} FROM ${documents} ORDER BY ${orderOf(filter, 'd')} LIMIT ${count}`
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
  const { knowledgeBaseId, folderId, updatedSince, locale, after } = filter
  const [first, second] = after ?? []
  const all = sql.join(
    [
      sql.fragment`d.workspace_id = ${workspaceId}`,
      ...(knowledgeBaseId === undefined ? [] : [sql.fragment`d.knowledge_base_id = ${knowledgeBaseId}`]),
      ...(folderId === undefined ? [] : [sql.fragment`d.folder_id = ${folderId}`]),
      ...(updatedSince === undefined ? [] : [sql.fragment`d.updated_at >= ${instant(updatedSince)}`]),
      ...(locale === undefined ? [] : [sql.fragment`d.locale = ${locale}`]),
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
  return sql.fragment`${all}`
}

const instant = (milliseconds: number) => sql.fragment`to_timestamp(${milliseconds}::float8 / 1000)::timestamptz(3)`
