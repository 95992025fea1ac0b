import { type Queryable, sql } from '../database/database.ts'
import { type NamedList, nameSearch } from '../database/name-search.ts'
import { mergedPage } from '../database/workspaces.ts'
import { entryColumns, isKept, TrashEntryRow, type TrashRetention } from './entries.ts'
import type { TrashEntry } from './schema.ts'

type Fragment = ReturnType<typeof sql.fragment>

/** The filters of a list of entries; `after` is the id of the last entry seen. */
export type TrashFilter = {
  workspaceIds: readonly string[]
  retention: TrashRetention
  knowledgeBaseId?: number | undefined
  nameContains?: string | undefined
  after: string | null
  limit: number
}

/** An entry in the shape of the API. */
export function presentEntry(row: TrashEntryRow): TrashEntry {
  const { id, type, name, path_text, document_count, deleted_at, deleted_by, expires_at } = row
  const resource_id = row.document_id ?? row.folder_id ?? row.knowledge_base_id
  return { id, type, resource_id, name, path_text, document_count, deleted_at, deleted_by, expires_at }
}

/**
 * Returns up to `limit + 1` visible entries after a position, the newest first, so that the caller sees if more follow.
 * `knowledgeBaseId` names the knowledge base of the place before the deletion, or the deleted knowledge base itself.
 */
export function trashPage(db: Queryable, filter: TrashFilter): Promise<readonly TrashEntryRow[]> {
  const { workspaceIds, nameContains, limit } = filter
  const pageOf = (workspaceId: Fragment) =>
    nameContains === undefined
      ? newest(filter, sql.fragment`trash_entries e WHERE ${conditions(filter, workspaceId)}`, limit + 1)
      : named({ ...filter, nameContains }, workspaceId)
  const order = sql.fragment`page.id DESC`
  return db.any(sql.type(TrashEntryRow)`${mergedPage({ workspaceIds, pageOf, order, limit: limit + 1 })}`)
}

function named(filter: TrashFilter & { nameContains: string }, workspaceId: Fragment) {
  const { knowledgeBaseId = null, nameContains, limit } = filter
  const inList = conditions(filter, workspaceId)
  const list: NamedList = {
    alias: 'e',
    name: 'name',
    listed: sql.fragment`trash_entries e WHERE ${inList}`,
    byId: sql.fragment`trash_entries e WHERE e.workspace_id = ${workspaceId}`,
    conditions: inList,
    mayMatch: sql.fragment`
      SELECT id FROM trash_entries WHERE title_words(workspace_id, knowledge_base_id, NULL, name) @@ (
        SELECT title_words_of_part(${workspaceId}::text, ${knowledgeBaseId}::int8, NULL, ${nameContains}))`,
    order: sql.fragment`e.id DESC`,
    ordered: (entries, count) => newest(filter, entries, count),
  }
  return nameSearch(list, { text: nameContains, count: limit + 1 })
}

function newest({ retention }: TrashFilter, entries: Fragment, count: number) {
  return sql.fragment`SELECT ${entryColumns(retention)} FROM ${entries} ORDER BY e.id DESC LIMIT ${count}`
}

function conditions({ retention, knowledgeBaseId, after }: TrashFilter, workspaceId: Fragment) {
  const all = sql.join(
    [
      sql.fragment`e.workspace_id = ${workspaceId} AND ${isKept(retention)}`,
      ...(knowledgeBaseId === undefined ? [] : [sql.fragment`e.knowledge_base_id = ${knowledgeBaseId}`]),
      ...(after === null ? [] : [sql.fragment`e.id < ${after}`]),
    ],
    sql.fragment` AND `,
  )
  return sql.fragment`${all}`
}
